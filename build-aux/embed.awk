# SPDX-License-Identifier: MIT
#
# awk -v top=SOURCE-DIRECTORY -f embed.awk FILE...
#
# Converts SQL files into C strings in sql.c, which sql.h declares.
#
# A file of sql/query/ holds queries.  Each begins with a line "-- name: seal_read" and ends at a
# blank line; it becomes `const char sql_query_seal_read[]`.
#
# A file of sql/schema/ is a template, from which each dialect gets its own string: tables.sql becomes
# `const char sql_mysql_tables[]` and so on.  Its first paragraph is omitted, {words} are replaced with
# their values in dialects.txt, and a line "mysql: ..." is for that dialect only.
#
# With -v only=DIALECT it prints the complete templates in that dialect instead.  With -v name=NAME
# it prints C that defines `const char NAME[]` with the content of one file of any kind.
#
# The strings are written as lists of bytes, because C guarantees only 4095 characters in a literal.
# Run it with LC_ALL=C, in which a character is a byte.

BEGIN {
    for (i = 1; i < 256; i++)
        code[sprintf("%c", i)] = i < 128 ? i : sprintf("'\\%o'", i)

    if (only) {
        print_templates()
        exit
    }
    if (name) {
        print_string()
        exit
    }
    print "/* Made by embed.awk from the files in sql/. */" > "sql.h"
    print "/* Made by embed.awk from the files in sql/. */" > "sql.c"
    print "#include \"sql.h\"" > "sql.c"
    for (i = 1; i < ARGC; i++) {
        read_file(ARGV[i])
        if (file ~ /^sql\/query\//)
            embed_queries()
        else if (file ~ /\.txt$/)
            learn_words()
        else
            embed_template()
    }
}

function print_templates(    i, n)
{
    for (i = 1; i < ARGC; i++) {
        read_file(ARGV[i])
        if (file ~ /\.txt$/)
            learn_words()
        else
            for (n = 1; n <= lines; n++)
                print expanded(line[n], only, n)
    }
}

function print_string(    n)
{
    read_file(ARGV[1])
    printf "/* Made by embed.awk from %s. */\nconst char %s[] = {\n", file, name
    for (n = 1; n <= lines; n++)
        print bytes_of(line[n])
    print "0};"
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

# Reads dialects.txt: each paragraph is a word and its value in each dialect, word[NAME, DIALECT].
function learn_words(    i, name, count)
{
    line[lines + 1] = "" # ends the last word
    for (i = 1; i <= lines + 1; i++) {
        if (line[i] ~ /^#/)
            continue
        if (line[i] ~ /^[a-z_]+$/ && !name) {
            name = line[i]
            count = 0
        } else if (line[i] ~ /^ +[a-z]+( |$)/ && name) {
            learn(name, line[i], ++count, i)
        } else if (line[i] != "") {
            refuse(i, "expected a word, or a dialect below a word")
        } else if (name) {
            if (count != dialects)
                refuse(i - 1, "'" name "' is not there in each dialect")
            name = ""
        }
    }
}

# The first word defines the dialects and their order.
function learn(name, text, count, at,    which)
{
    which = text
    sub(/^ +/, "", which)
    sub(/ .*/, "", which)
    sub(/^ +[a-z]+ */, "", text)
    if (!first)
        first = name
    if (name == first)
        dialect[++dialects] = which
    if (dialect[count] != which)
        refuse(at, "'" which "' is not the dialect that is expected here")
    if ((name, which) in word)
        refuse(at, "'" name "' is there already")
    word[name, which] = text
}

function embed_template(    d)
{
    if (!dialects)
        refuse(0, "dialects.txt comes first")
    for (d = 1; d <= dialects; d++)
        embed_for(dialect[d])
}

function embed_for(which,    i, name, text)
{
    name = file
    sub(/.*\//, "", name)
    sub(/\.sql$/, "", name)
    begin("sql_" which "_" name, 1)
    for (i = 1; i <= lines && line[i] != ""; i++)
        ;
    while (++i <= lines) {
        text = line[i]
        if (match(text, /^[a-z]+:( |$)/)) {
            if (!is_dialect(substr(text, 1, index(text, ":") - 1)))
                refuse(i, "'" text "' is for a dialect that is not there")
            if (index(text, which ":") != 1)
                continue
            text = substr(text, RLENGTH + 1)
        }
        add(expanded(text, which, i))
    }
    end()
}

function is_dialect(name,    d)
{
    for (d = 1; d <= dialects; d++)
        if (dialect[d] == name)
            return 1
    return 0
}

function expanded(text, which, at,    name)
{
    while (match(text, /[{][^}]*[}]/)) {
        name = substr(text, RSTART + 1, RLENGTH - 2)
        if (!((name, which) in word))
            refuse(at, "'{" name "}' is no word of '" which "'")
        text = joined(substr(text, 1, RSTART - 1), word[name, which], substr(text, RSTART + RLENGTH))
    }
    return text
}

# If the middle is empty, the blank before it is removed, too.
function joined(left, middle, right)
{
    if (middle == "")
        sub(/ $/, "", left)
    return left middle right
}

function begin(name, at)
{
    if (name in made)
        refuse(at, "'" name "' is there already, in " made[name])
    made[name] = file
    printf "extern const char %s[];\n", name > "sql.h"
    printf "\n/* %s */\nconst char %s[] = {\n", file, name > "sql.c"
}

function add(text)
{
    print bytes_of(text) > "sql.c"
}

function bytes_of(text,    i, list)
{
    text = text "\n"
    for (i = 1; i <= length(text); i++)
        list = list code[substr(text, i, 1)] ","
    return list
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
