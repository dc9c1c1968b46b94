/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>

#include "report/sshare_print.h"
#include "util/error.h"

static struct span span_of(const char *text)
{
    return (struct span){ text, strlen(text) };
}

static void between(const char *text, int decimals, double low, double high, const char *statement)
{
    struct printed_number number;
    bool good = printed_number_read(&number, span_of(text), decimals);
    ok(good && fabs(number.low - low) <= 1e-15 * fabs(low) &&
           fabs(number.high - high) <= 1e-15 * fabs(high),
       statement);
}

static void numbers(void)
{
    struct printed_number number;
    between("18164", PRINTED_CUT, 18164, 18165, "a truncated integer is up to 1 too low");
    between("18164.95", 2, 18164.945, 18164.955, "a rounded number is off by at most half a unit");
    between("0.178571", 6, 0.1785705, 0.1785715,
            "half a unit of the last decimal bounds the error");
    between("0.000000", 6, 0, 5e-7, "the lower bound of a positive number is not below 0");
    between("1354", 0, 1353.5, 1354.5, "a rounded integer is off by at most half");
    between("-7", 0, -7.5, -6.5, "a negative rounded integer is off by at most half");
    between("0.5", 6, 0.5 - 2e-16, 0.5 + 2e-16,
            "a number with fewer decimals is exact to a double");
    between("0.43857755135430361", 6, 0.43857755135430361 - 1.8e-16, 0.43857755135430361 + 1.8e-16,
            "a number with 17 digits is exact to a double");
    between("1", 6, 1 - 4e-16, 1 + 4e-16, "a number without a point is exact to a double");
    between("1.2346e+05", 6, 123455, 123465, "a positive exponent scales the error bound");
    between("1.2346e-05", 6, 1.23455e-05, 1.23465e-05,
            "a negative exponent scales the error bound");
    ok(printed_number_read(&number, span_of(""), 6) && !printed_is_there(&number),
       "a blank field counts as not printed");
    ok(printed_number_read(&number, span_of("inf"), 6) && isinf(number.low) && isinf(number.high) &&
           isinf(printed_middle(&number)),
       "inf is read as infinity");
    ok(!printed_number_read(&number, span_of("1.5x"), 6) &&
           !printed_number_read(&number, span_of("nan"), 6) &&
           !printed_number_read(&number, span_of("1.7976931348623157e+308"), 6),
       "texts that are not numbers are rejected");
}

static void kinds(void)
{
    ok(print_kind_of(span_of("Account|User|RawUsage\n")) == PRINT_OF_SSHARE &&
           print_kind_of(span_of("\n             Account       User\n----- ----\n")) ==
               PRINT_OF_SSHARE &&
           print_kind_of(span_of("ID|Account|RawUsage\n1|root|7\n")) == PRINT_OF_SSHARE,
       "output of sshare is recognized by its headings");
    ok(print_kind_of(span_of("CLUSTER: x\n          JOBID PARTITION\n")) == PRINT_OF_SPRIO &&
           print_kind_of(span_of("PRIORITY|JOBID\n")) == PRINT_OF_SPRIO,
       "output of sprio is recognized by its headings");
    ok(print_kind_of(span_of("Fairshare usage units are in: cput\nTREEROOT  : Grp: -1\n")) ==
               PRINT_OF_PBSFS &&
           print_kind_of(span_of("u|1   : Grp: 12345  cgrp: 123456Shares: 1\n")) == PRINT_OF_PBSFS,
       "output of pbsfs -p is recognized by any of its lines");
    ok(print_kind_of(span_of("fairshare entity: u1\nResgroup\t\t: 0\n")) == PRINT_OF_PBSFS,
       "output of pbsfs -g is recognized by its beginning");
    ok(print_kind_of(span_of("2|daemon|main|3530\n")) == PRINT_OF_SPRIO,
       "jobs without a heading are recognized as output of sprio");
    ok(print_kind_of(span_of("Current Association Manager state\n")) == PRINT_OF_ASSOC_MGR &&
           print_kind_of(span_of("ClusterName=c Account=root UserName= ")) == PRINT_OF_ASSOC_MGR,
       "output of scontrol is recognized by its beginning");
}

static int read_records(struct sshare_print *print, const char *text, struct error *err)
{
    return assoc_mgr_print_read(print, span_of(text), "c", err);
}

#define ROOT                                                            \
    "ClusterName=c Account=root UserName= Partition= Priority=0 ID=1\n" \
    "    SharesRaw/Norm/Level/Factor=1/1.00/1/0.00\n"                   \
    "    UsageRaw/Norm/Efctv=70.25/1.00/1.00\n"
#define USER                                                                  \
    "ClusterName=c Account=a UserName=man(6) Partition=gpu Priority=0 ID=7\n" \
    "    SharesRaw/Norm/Level/Factor=2147483647/0.25/12/0.73\n"               \
    "    UsageRaw/Norm/Efctv=7.00/4294967294.00/0.06\n"                       \
    "    ParentAccount=x(3) Lft=7 DefAssoc=Yes\n"                             \
    "    GrpTRESMins=cpu=N(172),mem=N(5)\n"

static void records(void)
{
    struct sshare_print print;
    struct error err;
    int result = read_records(&print,
                              "Current Association Manager state\n\nUser Records\n\n"
                              "UserName=man(6) DefAccount=a DefWckey= AdminLevel=None\n\n"
                              "Association Records\n\n" ROOT
                              "ClusterName=other Account=a UserName= Partition= ID=9\n"
                              "    UsageRaw/Norm/Efctv=9.00/0.00/0.00\n" USER
                              "\nQOS Records\n\nQOS=normal(1)\n    UsageRaw=5.000000\n",
                              &err);
    ok(!result && print.count == 2,
       "the associations of one cluster are read, without users and QOS");
    if (result)
        return;
    const struct printed_row *root = &print.rows[0], *user = &print.rows[1];
    ok(root->id == 1 && !*root->user && !root->has_shares && !printed_is_there(&root->fairshare),
       "the root's shares are absent, and its factor of 0 is ignored");
    ok(root->raw_usage.low == 70.245 && root->raw_usage.high == 70.255, "usage has two decimals");
    is_string(user->user, "man", "the number after a user name is removed");
    ok(user->id == 7 && !strcmp(user->account, "a") && !strcmp(user->partition, "gpu"),
       "names and ids are read");
    ok(user->has_shares && user->parent_shares && user->fairshare.high == 0.735,
       "shares and factors are read");
    ok(!printed_is_there(&user->norm_usage) && printed_is_there(&user->effective_usage),
       "4294967294 counts as not printed");
    sshare_print_free(&print);

    result = read_records(&print,
                          "ClusterName=c Account=a UserName= Partition= Priority=0 ID=3 "
                          "SharesRaw/Norm/Level/Factor=5/0.18/28/0.00 "
                          "UsageRaw/Norm/Efctv=5382.62/0.14/0.14 ParentAccount=root(1) Lft=4 \n",
                          &err);
    ok(!result && print.count == 1 && print.rows[0].shares == 5,
       "an association may be on one line");
    if (!result)
        sshare_print_free(&print);
    ok(read_records(&print, ROOT "ClusterName=c Account=a UserName= Partition= ID=x\n", &err) &&
           !strcmp(err.message, "line 4: 'x' is not a valid ID"),
       "the error names the line and the bad number");
    ok(read_records(&print, "ClusterName=c Account=a UserName= Partition= ID=3\n" ROOT, &err) &&
           strstr(err.message, "line 2"),
       "an association without usage is an error");
    ok(read_records(&print, "Association Records\n", &err) && strstr(err.message, "'c'"),
       "output without associations is an error");
}

int main(void)
{
    numbers();
    kinds();
    records();
    return done_testing();
}
