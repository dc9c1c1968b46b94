# SPDX-License-Identifier: MIT
#
# awk -v top=SOURCE-FOLDER -f embed.awk FILE...
#
# Turns SQL files into C texts in sql.c, which sql.h declares.
#
# A file of sql/query/ holds queries.  Each begins with a line "-- name: seal_read" and ends at a
# blank line; it becomes `const char sql_query_seal_read[]`.  Any other file is one text:
# sql/mysql/tables.sql becomes `const char sql_mysql_tables[]`.
#
# The texts are lists of bytes, since C promises string literals of 4095 characters only.  Run it
# with LC_ALL=C, where a character is a byte.

BEGIN {
    for (i = 1; i < 256; i++)
        code[sprintf("%c", i)] = i < 128 ? i : sprintf("'\\%o'", i)

    print "/* Made by embed.awk from the files in sql/. */" > "sql.h"
    print "/* Made by embed.awk from the files in sql/. */" > "sql.c"
    print "#include \"sql.h\"" > "sql.c"
    for (i = 1; i < ARGC; i++) {
        read_file(ARGV[i])
        if (file ~ /^sql\/query\//)
            embed_queries()
        else
            embed_file()
    }
}

# Reads a file into line[1] to line[lines].
function read_file(name,    status)
{
    file = name
    for (lines = 0; (status = (getline line[lines + 1] < (top "/" file))) > 0; lines++)
        ;
    close(top "/" file)
    if (status < 0)
        refuse(0, "cannot be read")
}

function embed_queries(    i, name, statement)
{
    line[lines + 1] = "" # ends the last query
    for (i = 1; i <= lines + 1; i++) {
        if (name && (line[i] == "" || line[i] ~ /^-- name:/)) {
            if (!statement)
                refuse(i, "'" name "' has no query")
            end()
            name = ""
        }
        if (line[i] ~ /^-- name:/) {
            if (line[i] !~ /^-- name: [a-z0-9_]+$/)
                refuse(i, "a name is written '-- name: seal_read'")
            name = substr(line[i], 10)
            statement = 0
            begin("sql_query_" name, i)
        } else if (line[i] != "" && line[i] !~ /^--/) {
            if (!name)
                refuse(i, "a query begins with a line '-- name: seal_read'")
            statement = 1
        }
        if (name)
            add(line[i])
    }
}

function embed_file(    i, name)
{
    name = file
    sub(/\.sql$/, "", name)
    gsub(/[^A-Za-z0-9]/, "_", name)
    begin(name, 1)
    for (i = 1; i <= lines; i++)
        add(line[i])
    end()
}

function begin(name, at)
{
    if (name in made)
        refuse(at, "'" name "' is there already, in " made[name])
    made[name] = file
    printf "extern const char %s[];\n", name > "sql.h"
    printf "\n/* %s */\nconst char %s[] = {\n", file, name > "sql.c"
}

function add(text,    i, list)
{
    text = text "\n"
    for (i = 1; i <= length(text); i++)
        list = list code[substr(text, i, 1)] ","
    print list > "sql.c"
}

function end()
{
    print "0};" > "sql.c"
}

function refuse(at, why)
{
    printf "embed.awk: %s%s: %s\n", file, at ? ":" at : "", why > "/dev/stderr"
    exit 1
}
