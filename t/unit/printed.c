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
    between("18164", PRINTED_CUT, 18164, 18165, "what is cut to an integer is up to 1 more");
    between("18164.95", 2, 18164.945, 18164.955, "what is rounded is off by half a unit at most");
    between("0.178571", 6, 0.1785705, 0.1785715, "of its last digit");
    between("0.000000", 6, 0, 5e-7, "and not below 0");
    between("1354", 0, 1353.5, 1354.5, "whole ones too");
    between("-7", 0, -7.5, -6.5, "also below 0");
    between("0.5", 6, 0.5 - 2e-16, 0.5 + 2e-16,
            "a number with other digits has all that a double has");
    between("0.43857755135430361", 6, 0.43857755135430361 - 1.8e-16, 0.43857755135430361 + 1.8e-16,
            "as one with 17");
    between("1", 6, 1 - 4e-16, 1 + 4e-16, "or without a point");
    between("1.2346e+05", 6, 123455, 123465, "an exponent moves the last digit");
    between("1.2346e-05", 6, 1.23455e-05, 1.23465e-05, "to either side");
    ok(printed_number_read(&number, span_of(""), 6) && !printed_is_there(&number),
       "what is blank was not printed");
    ok(printed_number_read(&number, span_of("inf"), 6) && isinf(number.low) && isinf(number.high) &&
           isinf(printed_middle(&number)),
       "infinite is infinite");
    ok(!printed_number_read(&number, span_of("1.5x"), 6) &&
           !printed_number_read(&number, span_of("nan"), 6) &&
           !printed_number_read(&number, span_of("1.7976931348623157e+308"), 6),
       "what is no number is refused");
}

static void kinds(void)
{
    ok(print_kind_of(span_of("Account|User|RawUsage\n")) == PRINT_OF_SSHARE &&
           print_kind_of(span_of("\n             Account       User\n----- ----\n")) ==
               PRINT_OF_SSHARE &&
           print_kind_of(span_of("ID|Account|RawUsage\n1|root|7\n")) == PRINT_OF_SSHARE,
       "headings of sshare tell");
    ok(print_kind_of(span_of("CLUSTER: x\n          JOBID PARTITION\n")) == PRINT_OF_SPRIO &&
           print_kind_of(span_of("PRIORITY|JOBID\n")) == PRINT_OF_SPRIO,
       "so do sprio's");
    ok(print_kind_of(span_of("Fairshare usage units are in: cput\nTREEROOT  : Grp: -1\n")) ==
               PRINT_OF_PBSFS &&
           print_kind_of(span_of("u|1   : Grp: 12345  cgrp: 123456Shares: 1\n")) == PRINT_OF_PBSFS,
       "of pbsfs -p its first line, or the form of any other");
    ok(print_kind_of(span_of("fairshare entity: u1\nResgroup\t\t: 0\n")) == PRINT_OF_PBSFS,
       "and what pbsfs -g begins with");
    ok(print_kind_of(span_of("2|daemon|main|3530\n")) == PRINT_OF_SPRIO,
       "jobs without a heading are sprio's");
    ok(print_kind_of(span_of("Current Association Manager state\n")) == PRINT_OF_ASSOC_MGR &&
           print_kind_of(span_of("ClusterName=c Account=root UserName= ")) == PRINT_OF_ASSOC_MGR,
       "and scontrol's begins with its own words");
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
    ok(!result && print.count == 2, "associations of one cluster are read, and no users or QOS");
    if (result)
        return;
    const struct printed_row *root = &print.rows[0], *user = &print.rows[1];
    ok(root->id == 1 && !*root->user && !root->has_shares && !printed_is_there(&root->fairshare),
       "the root has no shares, and a factor of 0 is none");
    ok(root->raw_usage.low == 70.245 && root->raw_usage.high == 70.255, "usage has two decimals");
    is_string(user->user, "man", "a user's number is left out");
    ok(user->id == 7 && !strcmp(user->account, "a") && !strcmp(user->partition, "gpu"),
       "names and ids are there");
    ok(user->has_shares && user->parent_shares && user->fairshare.high == 0.735,
       "shares and a factor too");
    ok(!printed_is_there(&user->norm_usage) && printed_is_there(&user->effective_usage),
       "what slurmctld does not know was not printed");
    sshare_print_free(&print);

    result = read_records(&print,
                          "ClusterName=c Account=a UserName= Partition= Priority=0 ID=3 "
                          "SharesRaw/Norm/Level/Factor=5/0.18/28/0.00 "
                          "UsageRaw/Norm/Efctv=5382.62/0.14/0.14 ParentAccount=root(1) Lft=4 \n",
                          &err);
    ok(!result && print.count == 1 && print.rows[0].shares == 5, "one line may hold all of it");
    if (!result)
        sshare_print_free(&print);
    ok(read_records(&print, ROOT "ClusterName=c Account=a UserName= Partition= ID=x\n", &err) &&
           !strcmp(err.message, "line 4: 'x' is no ID"),
       "a bad number is named with its line");
    ok(read_records(&print, "ClusterName=c Account=a UserName= Partition= ID=3\n" ROOT, &err) &&
           strstr(err.message, "line 2"),
       "an association must have a usage");
    ok(read_records(&print, "Association Records\n", &err) && strstr(err.message, "'c'"),
       "and there must be one");
}

int main(void)
{
    numbers();
    kinds();
    records();
    return done_testing();
}
