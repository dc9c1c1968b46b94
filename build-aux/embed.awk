# SPDX-License-Identifier: MIT
#
# awk -v top=SOURCE-FOLDER -f embed.awk FILE...
#
# Turns SQL files into C texts in sql.c, which sql.h declares: sql/mysql/tables.sql becomes
# the bytes of `const char sql_mysql_tables[]`.  Bytes, since C promises string literals of
# 4095 characters only.  Run it with LC_ALL=C, where a character is a byte.

BEGIN {
    for (i = 1; i < 256; i++)
        code[sprintf("%c", i)] = i < 128 ? i : sprintf("'\\%o'", i)

    print "/* Made by embed.awk from the files in sql/. */" > "sql.h"
    print "/* Made by embed.awk from the files in sql/. */" > "sql.c"
    print "#include \"sql.h\"" > "sql.c"
    for (i = 1; i < ARGC; i++)
        embed(ARGV[i])
}

function embed(file,    name, line, status)
{
    name = file
    sub(/\.sql$/, "", name)
    gsub(/[^A-Za-z0-9]/, "_", name)
    printf "extern const char %s[];\n", name > "sql.h"
    printf "\n/* %s */\nconst char %s[] = {\n", file, name > "sql.c"
    file = top "/" file
    while ((status = (getline line < file)) > 0)
        print bytes(line "\n") > "sql.c"
    if (status < 0) {
        print "embed.awk: cannot read " file > "/dev/stderr"
        exit 1
    }
    close(file)
    print "0};" > "sql.c"
}

function bytes(line,    i, list)
{
    for (i = 1; i <= length(line); i++)
        list = list code[substr(line, i, 1)] ","
    return list
}
