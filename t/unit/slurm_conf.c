/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_read.h"
#include "settings/slurm/slurm_value.h"
#include "util/error.h"
#include "util/text.h"

/* Tests the parser of slurm.conf at the level of its structs.  t/command/slurm_conf.t tests the
 * resulting settings. */

static struct error err;

static void write_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(name, "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file))
        perror(name);
    chmod(name, 0644);
}

static void write_file(const char *name, const char *bytes)
{
    write_bytes(name, bytes, strlen(bytes));
}

/* Reads a slurm.conf with these bytes.  Returns NULL if it is rejected. */
static struct slurm_conf *conf_of(const char *bytes)
{
    struct slurm_conf *conf;
    write_file("slurm.conf", bytes);
    memset(&err, 0, sizeof err);
    if (!slurm_conf_read(&conf, "slurm.conf", &err))
        return conf;
    return NULL;
}

/* Compares one value in such a file, and its line unless `line` is 0. */
static void says(const char *bytes, enum slurm_key key, const char *value, unsigned line,
                 const char *statement)
{
    struct slurm_conf *conf = conf_of(bytes);
    const char *got = conf ? conf->given[key].value : err.message;
    if (is_string(got, value, statement) && conf && value && line)
        is_int(conf->given[key].place.line, line, "the line of the value is known");
    slurm_conf_destroy(conf);
}

static void refused(const char *bytes, const char *message, const char *statement)
{
    struct slurm_conf *conf = conf_of(bytes);
    if (!ok(!conf && strstr(err.message, message) && err.class == ERROR_SETTINGS, statement))
        diag(conf ? "the file was accepted" : err.message);
    slurm_conf_destroy(conf);
}

static void lines(void)
{
    says("PriorityMaxAge=7-0\n", SLURM_MAX_AGE, "7-0", 1, "a key has a value");
    says("prioritymaxAGE = 7-0", SLURM_MAX_AGE, "7-0", 1,
         "keys ignore case, blanks around = and a missing newline");
    says("# PriorityMaxAge=1\n  # 2\nPriorityMaxAge=3 # 4\n", SLURM_MAX_AGE, "3", 3,
         "text after # is a comment");
    says("PriorityMaxAge=1\nPriorityMaxAge=2\n", SLURM_MAX_AGE, "2", 2,
         "the last of two values counts");
    says("ClusterName=a\\#b\\\\c\n", SLURM_CLUSTER_NAME, "a#b\\c", 1,
         "a backslash removes the meaning of the next character");
    says("ClusterName=a\\\\#b\n", SLURM_CLUSTER_NAME, "a\\", 1,
         "a backslash removes the meaning of another backslash");
    says("\nPriority\\\nMax\\\nAge=\\\n5\n", SLURM_MAX_AGE, "5", 2,
         "a continued line has the number of its first line");
    says("PriorityMaxAge=\\  \n5\n", SLURM_MAX_AGE, "5", 1,
         "blanks may follow a backslash at the end of a line");
    says("# 1 \\\nPriorityMaxAge=5\n", SLURM_MAX_AGE, "5", 2, "a comment is not continued");
    says("PriorityMaxAge=5 \\\n# 1\nPriorityMaxAge=6\n", SLURM_MAX_AGE, "6", 3,
         "a continuation may be a comment");
    says("ClusterName=ab\\\\\nPriorityMaxAge=7\n", SLURM_MAX_AGE, "7", 2,
         "two backslashes at the end do not continue a line");
    says("PriorityWeightTRES=\"CPU=1, Mem=2\"\n", SLURM_WEIGHT_TRES, "CPU=1, Mem=2", 1,
         "a quoted value may have blanks");
    says("PriorityWeightTRES=CPU=1,Mem=2\r\n", SLURM_WEIGHT_TRES, "CPU=1,Mem=2", 1,
         "a value may contain =, and a line may end with CR");
    says("PriorityFlags=\"\"\n", SLURM_FLAGS, "", 1, "a value may be empty");
    says("PrologFlags=Alloc,X11\nSchedulerParameters=bf_interval=30 max_rpc_cnt=1\n"
         "SlurmctldHost=a(10.0.0.1)\nPriorityMaxAge=5\n",
         SLURM_MAX_AGE, "5", 4, "unknown keys are ignored");
    says("ClusterName=x\n", SLURM_MAX_AGE, NULL, 0, "a missing key has no value");
    refused("\n\nPriorityMaxAge\n", "'slurm.conf', line 3: expected KEY=VALUE",
            "a line without = is rejected");
    refused("AccountingStoragePass secret\n", "line 1",
            "a line with a secret but without = is rejected");
    ok(!strstr(err.message, "secret"), "the error does not show the secret");
    refused("ClusterName=a PriorityMaxAge=5\n",
            "line 1: unexpected text after the value of ClusterName",
            "a line with two keys is rejected");
    says("PriorityFlags+=MAX_TRES\n", SLURM_FLAGS, "MAX_TRES", 1, "+= is read as =");
    says("PriorityFlags=1\nPriorityFlags -= 2\n", SLURM_FLAGS, "2", 2,
         "-= is read as =, and the last line counts");
    refused("ClusterName=a\nInclude=b.conf\n", "line 2: Slurm rejects an Include with a '='",
            "an Include with = is rejected");
    refused("iNCLUDE+=b.conf\n", "line 1: Slurm rejects an Include with a '='",
            "an Include with += is rejected");
    refused("\xef\xbb\xbf"
            "ClusterName=a\n",
            "byte-order mark", "a byte-order mark is rejected");
    write_bytes("nul.conf", "ClusterName=a\nPriorityMaxAge=5\0\n", 32);
    refused("Include nul.conf\n", "'nul.conf', line 2: the line contains a NUL byte",
            "a NUL byte is rejected");
}

static void includes(void)
{
    mkdir("conf.d", 0755);
    mkdir("odd[1]", 0755);
    write_file("conf.d/20", "PriorityMaxAge=20\nInclude deeper\nInclude 30\n");
    write_file("30", "PriorityWeightPartition=30\n");
    write_file("conf.d/deeper", "PriorityWeightAge=7\n");
    write_file("conf.d/alpha_1", "PriorityWeightQOS=9\n");
    write_file("odd[1]/slurm.conf", "Include [a]?.part\n");
    write_file("odd[1]/[a]?.part", "PriorityMaxAge=30\n");
    struct slurm_conf *conf = conf_of("PriorityMaxAge=1\ninclude conf.d/20\n"
                                      "ClusterName=Alpha\nINCLUDE\tconf.d/%c_1 # that\n");
    if (ok(conf != NULL, "files are included")) {
        is_string(conf->given[SLURM_MAX_AGE].value, "20", "a value from an included file is read");
        is_string(conf->given[SLURM_MAX_AGE].place.file, "conf.d/20",
                  "the place of a value names the included file");
        is_string(conf->given[SLURM_WEIGHT_AGE].value, "7",
                  "a nested Include starts at the file's directory, as before Slurm 23.02");
        is_string(conf->given[SLURM_WEIGHT_PARTITION].value, "30",
                  "a nested Include starts at slurm.conf's directory, as from 23.02 on");
        is_string(conf->given[SLURM_WEIGHT_QOS].value, "9",
                  "%c is the cluster's name in lower case");
        is_int((int64_t)conf->files.count, 5, "all files are listed");
        is_string(conf->files.each[0].path, "slurm.conf",
                  "the first listed file is slurm.conf itself");
        is_string(conf->files.each[2].path, "conf.d/deeper",
                  "files are listed in the order of their inclusion");
        struct stat status;
        stat("conf.d/deeper", &status);
        is_int(conf->files.each[2].changed, status.st_mtime,
               "a file is listed with the time of its last change");
    } else {
        diag(err.message);
    }
    slurm_conf_destroy(conf);
    conf = NULL;
    ok(!slurm_conf_read(&conf, "odd[1]/slurm.conf", &err) && conf->given[SLURM_MAX_AGE].value,
       "names of directories and files are not patterns");
    slurm_conf_destroy(conf);
    write_file("conf.d/30", "PriorityWeightPartition=31\n");
    refused("Include conf.d/20\n",
            "'conf.d/20', line 3: this Include reads 'conf.d/30' in Slurm up to 22.05, but '30' "
            "from 23.02 on",
            "an Include that depends on Slurm's release is rejected");
    unlink("conf.d/30");
    says(link("30", "conf.d/30") ? "" : "Include conf.d/20\n", SLURM_WEIGHT_PARTITION, "30", 0,
         "an Include with the same file for all releases is accepted");
    unlink("conf.d/30");
    unlink("30");
    refused("Include conf.d/20\n", "'conf.d/20', line 3: cannot read '30': No such file",
            "a missing file is reported as Slurm 23.02 looks for it");
    char path[600], directory[512];
    snprintf(path, sizeof path, "Include %s/conf.d/deeper\n", getcwd(directory, sizeof directory));
    says(path, SLURM_WEIGHT_AGE, "7", 1, "an absolute path is used unchanged");
    refused("\nInclude conf.d/*.conf\n",
            "'slurm.conf', line 2: Slurm does not accept a pattern in an Include",
            "an Include of a pattern is rejected");
    refused("Include = conf.d/20\n", "line 1: Slurm reads the '=' after Include as a file name",
            "an Include with = and blanks is rejected");

    refused("\nInclude nowhere\n", "'slurm.conf', line 2: cannot read 'nowhere'",
            "an Include of a missing file is rejected");
    refused("Include a b\n", "more than one file", "an Include of two files is rejected");
    refused("Include \n", "without a file", "an Include without a file is rejected");
    refused("Include %c.conf\n", "needs a ClusterName", "%c before ClusterName is rejected");
    refused("Include conf.d\n", "it is not a regular file",
            "an Include of a directory is rejected");
    write_file("circle", "\nInclude slurm.conf\n");
    refused("Include circle\n", "'circle', line 2: cannot read 'slurm.conf': it includes itself",
            "a circular Include is rejected");
    char name[16], text[32];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "deep%d", i);
        snprintf(text, sizeof text, "Include deep%d\n", i + 1);
        write_file(name, i < 19 ? text : "");
    }
    refused("Include deep0\n", "more than 16 levels", "more than 16 nested files are rejected");
    says("Include deep5\nPriorityMaxAge=1\n", SLURM_MAX_AGE, "1", 2,
         "16 nested files are accepted");
    write_file("loose", "");
    chmod("loose", 0646);
    refused("Include loose\n", "all users can write", "a world-writable file is rejected");
}

static void times(void)
{
    static const struct {
        const char *text;
        uint64_t minutes;
    } good[] = {
        { "0", 0 },
        { "90", 90 },
        { "1:30", 2 },
        { "2:00", 2 },
        { "1:30:00", 90 },
        { "1:30:01", 91 },
        { "7-0", 10080 },
        { "7-", 10080 },
        { "1-12", 2160 },
        { "1-12:30", 2190 },
        { "1-12:30:00", 2190 },
        { "0-00:10:00", 10 },
        { "100:60:00", 6060 },
        { "INFINITE", SLURM_UNLIMITED },
        { "unlimited", SLURM_UNLIMITED },
        { "-1", SLURM_UNLIMITED },
    };
    static const char *const bad[] = {
        "",
        "week",
        "-5",
        "1.5",
        "1-2-3",
        ":",
        "1:",
        ":1",
        "1::",
        "1:2:",
        "1:2:3:",
        "1:2:3:4",
        "1-:5",
        "7days",
        " 1",
        "1 ",
        "-",
        "1:2-3",
        "--1",
        "0x10",
        "+1",
        "1-2:3:4:5",
        "99999999999999999999",
        "999999999999999999-0",
    };
    uint64_t minutes;
    bool all = true;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!slurm_minutes(good[i].text, &minutes) || minutes != good[i].minutes) {
            diag(good[i].text);
            all = false;
        }
    ok(all, "every form of Slurm's durations is rounded up to minutes");
    all = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (slurm_minutes(bad[i], &minutes)) {
            diag(bad[i]);
            all = false;
        }
    ok(all, "other forms of durations are rejected");
}

static void numbers(void)
{
    uint64_t number;
    bool yes;
    ok(slurm_number("0x1F", 65535, &number) && number == 31 && slurm_number("010", 9, &number) &&
           number == 8,
       "numbers may be hexadecimal and octal");
    ok(slurm_number("2k", UINT32_MAX, &number) && number == 2048 &&
           !slurm_number("2k", UINT16_MAX, &number),
       "K is 1024, in a number of 32 bits");
    ok(slurm_number("Unlimited", 65535, &number) && number == 65535,
       "UNLIMITED is the largest number");
    ok(slurm_number("65535", 65535, &number) && !slurm_number("65536", 65535, &number) &&
           !slurm_number("4194304K", UINT32_MAX, &number) &&
           !slurm_number("99999999999999999999", UINT64_MAX, &number) &&
           !slurm_number("-1", 65535, &number) && !slurm_number("", 9, &number) &&
           !slurm_number("1.5", 9, &number) && !slurm_number("08", 9, &number) &&
           !slurm_number(" 1", 9, &number) && !slurm_number("1 ", 9, &number),
       "numbers that are too large or invalid are rejected");
    ok(slurm_boolean("YES", &yes) && yes && slurm_boolean("up", &yes) && yes &&
           slurm_boolean("False", &yes) && !yes && slurm_boolean("0", &yes) && !yes &&
           !slurm_boolean("2", &yes) && !slurm_boolean("", &yes),
       "booleans are yes, true, up, 1 and their opposites");
    ok(slurm_count("4G", 2, &number) && number == UINT64_C(4) << 30 &&
           slurm_count("3", 1, &number) && number == 3 && !slurm_count("G", 1, &number) &&
           !slurm_count("", 0, &number) && !slurm_count("99999P", 6, &number),
       "a count may have a suffix");
}

static void add_name(void *context, const char *name, size_t length)
{
    struct text *text = context;
    text_add(text, text->length ? " " : "");
    text_add_bytes(text, name, length);
}

/* The expected names are the output of `scontrol show hostnames`. */
static void hosts(void)
{
    static const struct {
        const char *list, *names;
    } good[] = {
        { "n[1-4,7]", "n1 n2 n3 n4 n7" },
        { "rack[0-1]n[00-02]", "rack0n00 rack0n01 rack0n02 rack1n00 rack1n01 rack1n02" },
        { "n[8-11]", "n8 n9 n10 n11" },
        { "n[08-11]", "n08 n09 n10 n11" },
        { "a[1-2],b", "a1 a2 b" },
        { "n1,,n2", "n1 n2" },
        { "n[001-3]", "n001 n002 n003" },
        { "n[1-2][3-4]", "n13 n14 n23 n24" },
        { "n[1,1]", "n1 n1" },
        { "n[99-0100]", "n99 n100" },
        { "[1-2]", "1 2" },
        { "a b", "a b" },
    };
    static const char *const bad[] = { "n[5-1]",   "n[1-",     "n[]",     "n[1,]",      "n[a-c]",
                                       "n[1-3",    "n]",       "n[1:3]",  "n[1-70000]", "n[ 1-2]",
                                       "n[1-9:2]", "n[1-0x3]", "n[1[2]]", "n[,1]" };
    bool all = true;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct text text = { 0 };
        size_t left = 1000;
        struct slurm_hosts list = { add_name, &text, &left };
        if (slurm_hosts_expand(&list, good[i].list) || strcmp(text.bytes, good[i].names)) {
            diag(good[i].list);
            diag(text.bytes ? text.bytes : "");
            all = false;
        }
        text_free(&text);
    }
    ok(all, "host lists expand to the same names as in scontrol");
    all = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct text text = { 0 };
        size_t left = 100000;
        struct slurm_hosts list = { add_name, &text, &left };
        if (!slurm_hosts_expand(&list, bad[i])) {
            diag(bad[i]);
            all = false;
        }
        text_free(&text);
    }
    ok(all, "invalid host lists are rejected");
    struct text text = { 0 };
    size_t left = 10;
    struct slurm_hosts list = { add_name, &text, &left };
    ok(slurm_hosts_expand(&list, "n[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]") && !text.length,
       "a host list with too many hosts gives no names");
    text_free(&text);
}

static const struct slurm_partition *partition_of(const struct slurm_conf *conf, const char *name)
{
    static const struct slurm_partition none = { .name = "" };
    for (size_t i = 0; conf && i < conf->partition_count; i++)
        if (!strcmp(conf->partitions[i].name, name))
            return &conf->partitions[i];
    return &none;
}

static uint64_t gres_of(const struct slurm_totals *totals, const char *name)
{
    for (size_t i = 0; i < totals->gres_count; i++)
        if (!strcmp(totals->gres[i].name, name))
            return totals->gres[i].count;
    return 0;
}

/* Compares the number of nodes of partition p. */
static void has_nodes(const char *bytes, int64_t nodes, const char *statement)
{
    struct slurm_conf *conf = conf_of(bytes);
    is_int(conf ? (int64_t)partition_of(conf, "p")->totals.nodes : -1, nodes, statement);
    slurm_conf_destroy(conf);
}

static void node_sets(void)
{
#define NODES "NodeName=n[1-9] Feature=thin\nNodeName=f[1-2] Gres=(null)\nNodeName=g1 Gres=gpu:2\n"
    has_nodes(NODES
              "NodeSet=all Nodes=thin,fat\nNodeSet=thin Feature=thin\nNodeSet=fat Nodes=f[1-2]\n"
              "PartitionName=p Nodes=all,n1\n",
              11, "a node set may name sets that are defined later");
    has_nodes(NODES
              "NodeSet=fat Nodes=f[1-2]\nNodeSet=thin Feature=thin\nNodeSet=all Nodes=fat,thin,g1\n"
              "PartitionName=p Nodes=all\n",
              12, "a node set may name sets that are defined earlier");
    has_nodes(NODES "PartitionName=p Nodes=a\nNodeSet=a Nodes=b,n1\nNodeSet=b Nodes=c,n2\n"
                    "NodeSet=c Nodes=a,c,n3\n",
              3, "node sets that name each other have the nodes of all");
    has_nodes(NODES "NodeSet=a Nodes=b,b\nNodeSet=b Nodes=ALL\nPartitionName=p Nodes=a,a\n", 12,
              "a node in several sets counts once");
    struct slurm_conf *conf = conf_of(NODES "NodeSet=a Nodes=b\nNodeSet=b Nodes=x\n"
                                            "PartitionName=p Nodes=a\nPartitionName=q Nodes=a\n");
    ok(conf && conf->note_count == 2 &&
           strstr(conf->notes[0].text, "partition 'p' contains 'x', which is not a node"),
       "an unknown node in a nested set is reported");
    ok(conf && gres_of(&conf->totals, "gres/gpu") == 2 && conf->totals.gres_count == 1,
       "a node's generic resources may be (null)");
    slurm_conf_destroy(conf);
    struct text deep = { 0 };
    text_add(&deep, NODES "PartitionName=p Nodes=s0\n");
    for (int i = 0; i < 20000; i++)
        text_format(&deep, "NodeSet=s%d Nodes=s%d\n", i, i + 1);
    text_add(&deep, "NodeSet=s20000 Nodes=n7\n");
    has_nodes(deep.bytes, 1, "node sets may be nested to any depth");
    text_free(&deep);
}

static void nodes(void)
{
    struct slurm_conf *conf =
        conf_of("PartitionName=early Nodes=n[1-2] PriorityJobFactor=7\n"
                "PartitionName=DEFAULT MaxTime=1-0 PriorityJobFactor=5 State=UP\n"
                "NodeName=DEFAULT Sockets=2 CoresPerSocket=8 RealMemory=64000 Feature=fast\n"
                "NodeName=n[1-4] NodeAddr=10.0.0.[1-4] Weight=1\n"
                "NodeName=DEFAULT ThreadsPerCore=2\n"
                "nodename=g[01-02] CPUs=32 gres=gpu:a100:4,shard:8 Features=gpu,fast\n"
                "NodeName=big RealMemory=1024000 Gres=gpu:h100:2(S:0,1),gpu:a100:1\n"
                "NodeSet=gpus Feature=gpu Nodes=big\n"
                "PartitionName=cpu Nodes=n[1-4] TRESBillingWeights=CPU=1.0,Mem=0.25G\n"
                "PartitionName=DEFAULT PriorityJobFactor=9 TRESBillingWeights=CPU=2\n"
                "PartitionName=gpu Nodes=gpus,g01 MaxTime=UNLIMITED Default=YES\n"
                "PartitionName=all Nodes=ALL MaxTime=90 PriorityJobFactor=100\n"
                "PartitionName=some Nodes=n[3-9],g[01-02],n3 Priority=3\n"
                "PartitionName=none Nodes= \n"
                "PartitionName=all Nodes=n1\n"
                "NodeName=n4 CPUs=99\n");
    if (!ok(conf != NULL, "nodes and partitions are read")) {
        diag(err.message);
        return;
    }
    is_int((int64_t)conf->totals.nodes, 7, "nodes are counted");
    is_int((int64_t)conf->totals.cpus, 4 * 16 + 3 * 32, "CPUs are computed from sockets or read");
    is_int((int64_t)conf->totals.memory, 6 * 64000 + 1024000, "memory is summed");
    is_int((int64_t)gres_of(&conf->totals, "gres/gpu"), 11, "generic resources are summed");
    is_int((int64_t)gres_of(&conf->totals, "gres/gpu:a100"), 9,
           "generic resources are summed by type");
    is_int((int64_t)gres_of(&conf->totals, "gres/shard"), 16,
           "generic resources without a type are summed");

    const struct slurm_partition *early = partition_of(conf, "early");
    ok(early->totals.nodes == 2 && early->job_factor == 7 && early->max_time == SLURM_UNLIMITED &&
           !early->billing_weights,
       "DEFAULT applies to later lines; nodes may be defined later");
    const struct slurm_partition *cpu = partition_of(conf, "cpu");
    is_int((int64_t)cpu->job_factor, 5, "DEFAULT sets a factor");
    is_int((int64_t)cpu->max_time, 1440, "DEFAULT sets a time limit in minutes");
    is_string(cpu->billing_weights, "CPU=1.0,Mem=0.25G", "a line's own value overrides DEFAULT");
    is_int(cpu->place.line, 9, "the place of a partition is its line");
    const struct slurm_partition *gpu = partition_of(conf, "gpu");
    ok(gpu->job_factor == 9 && gpu->max_time == SLURM_UNLIMITED &&
           !strcmp(gpu->billing_weights, "CPU=2"),
       "a second DEFAULT adds to the first");
    is_int((int64_t)gpu->totals.nodes, 3, "a node set has the nodes of its list and its feature");
    is_int((int64_t)gres_of(&gpu->totals, "gres/gpu"), 11,
           "a partition has the generic resources of its node set");
    is_int((int64_t)partition_of(conf, "all")->totals.nodes, 7, "ALL means all nodes");
    is_int((int64_t)partition_of(conf, "all")->max_time, 90,
           "the first of two lines for a partition counts");
    const struct slurm_partition *some = partition_of(conf, "some");
    is_int((int64_t)some->totals.nodes, 4, "a node that is named twice counts once");
    is_int((int64_t)some->job_factor, 3,
           "Priority is the former name of the factor and takes precedence");
    is_int((int64_t)partition_of(conf, "none")->totals.nodes, 0, "a partition may have no nodes");

    is_int((int64_t)conf->note_count, 3, "inconsistencies are reported");
    is_string(conf->notes[0].text, "'all' is defined twice; only its first line counts",
              "a repeated partition is reported");
    is_string(conf->notes[1].text, "node 'n4' is defined twice; only its first line counts",
              "a repeated node is reported");
    is_string(conf->notes[2].text, "partition 'some' contains 'n5', which is not a node",
              "an unknown node is reported");
    slurm_conf_destroy(conf);
}

/* The example in slurm.conf(5). */
static void manual_example(void)
{
    struct slurm_conf *conf =
        conf_of("SlurmctldHost=dev0(12.34.56.78)	# Primary server\n"
                "PluginDir=/usr/local/lib:/usr/local/slurm/lib\n"
                "#\n"
                "NodeName=DEFAULT CPUs=2 RealMemory=2000 TmpDisk=64000\n"
                "NodeName=DEFAULT State=UNKNOWN\n"
                "NodeName=dev[0-25] NodeAddr=edev[0-25] Weight=16\n"
                "# Update records for specific DOWN nodes\n"
                "DownNodes=dev20 State=DOWN Reason=\"power,ETA=Dec25\"\n"
                "PartitionName=DEFAULT MaxTime=30 MaxNodes=10 State=UP\n"
                "PartitionName=debug Nodes=dev[0-8,18-25] Default=YES\n"
                "PartitionName=batch Nodes=dev[9-17]  MinNodes=4\n"
                "PartitionName=long Nodes=dev[9-17] MaxTime=120 AllowGroups=admin\n");
    ok(conf && conf->totals.nodes == 26 && conf->totals.cpus == 52 &&
           conf->totals.memory == 52000 && conf->partition_count == 3 && !conf->note_count,
       "the example in the manual is read");
    const struct slurm_partition *debug = partition_of(conf, "debug");
    ok(debug->totals.nodes == 17 && debug->totals.cpus == 34 && debug->max_time == 30,
       "the example's partition debug is correct");
    ok(partition_of(conf, "batch")->totals.memory == 18000 &&
           partition_of(conf, "long")->max_time == 120,
       "the example's other partitions are correct");
    slurm_conf_destroy(conf);
}

/* Compares the pool of each partition: `cpu=cpu gpu=gpu`. */
static void has_pools(const char *bytes, const char *pools, const char *statement)
{
    struct text text = { 0 };
    struct slurm_conf *conf = conf_of(bytes);
    for (size_t i = 0; conf && i < conf->partition_count; i++)
        text_format(&text, "%s%s=%s", i ? " " : "", conf->partitions[i].name,
                    conf->partitions[i].pool);
    is_string(text.bytes, pools, statement);
    text_free(&text);
    slurm_conf_destroy(conf);
}

static void pools(void)
{
    has_pools(NODES "PartitionName=b Nodes=n[1-5]\nPartitionName=a Nodes=n[5-9]\nPartitionName=f "
                    "Nodes=f[1-2]\n",
              "b=a a=a f=f",
              "partitions that share a node are in one pool, which has the first name");
    has_pools(NODES "PartitionName=c Nodes=n[1-4]\nPartitionName=b Nodes=n[5-9]\nPartitionName=a "
                    "Nodes=n[4-5]\n",
              "c=a b=a a=a", "a third partition connects two others");
    has_pools(NODES "PartitionName=B Nodes=g1\nPartitionName=a Nodes=g1\n", "B=B a=B",
              "names are compared by bytes");
    has_pools(NODES "NodeSet=s Feature=thin\nPartitionName=p Nodes=s\nPartitionName=q "
                    "Nodes=n9,f1\nPartitionName=r Nodes=f2\n",
              "p=p q=p r=r", "the nodes of a node set count");
    has_pools(NODES "PartitionName=DEFAULT "
                    "Nodes=ALL\nPartitionName=x\nPartitionName=y\nPartitionName=z Nodes=\"\"\n",
              "x=x y=x z=z", "DEFAULT lines apply, and a partition without nodes has its own pool");
}

/* Compares tier, factor, MaxNodes and State of partition p. */
static void has_limits(const char *keys, const char *limits, const char *statement)
{
    struct text text = { 0 };
    text_format(&text, "PartitionName=p %s\n", keys);
    struct slurm_conf *conf = conf_of(text.bytes);
    text_free(&text);
    const struct slurm_partition *found = partition_of(conf, "p");
    text_format(&text, "%" PRIu64 " %" PRIu64 " %" PRId64 " %s", found->tier, found->job_factor,
                (int64_t)found->max_nodes, found->closed ? found->closed : "open");
    is_string(text.bytes, limits, statement);
    text_free(&text);
    slurm_conf_destroy(conf);
}

static void limits(void)
{
    has_limits("", "1 1 -1 open", "a partition has tier 1, factor 1 and no limit by default");
    has_limits("PriorityTier=10 PriorityJobFactor=20", "10 20 -1 open",
               "tier and factor have their own keys");
    has_limits("PriorityTier=10 Priority=30 PriorityJobFactor=20", "30 30 -1 open",
               "Priority overrides both, as in Slurm");
    has_limits("MaxNodes=4 State=drain", "1 1 4 open",
               "a partition that is drained starts its jobs");
    has_limits("MaxNodes=UNLIMITED State=UP", "1 1 -1 open", "MaxNodes may be unlimited");
    has_limits("State=Down", "1 1 -1 DOWN", "no job starts in a partition with State=DOWN");
    has_limits("State=INACTIVE", "1 1 -1 INACTIVE",
               "no job starts in a partition with State=INACTIVE");
    refused("PartitionName=p PriorityTier=70000\n", "line 1: PriorityTier",
            "a PriorityTier above 16 bits is rejected");
    refused("PartitionName=p State=OPEN\n",
            "line 1: State = 'OPEN': must be UP, DOWN, DRAIN or INACTIVE",
            "an unknown State is rejected");
    refused("PartitionName=p MaxNodes=some\n", "line 1: MaxNodes = 'some'",
            "an invalid MaxNodes is rejected");
}

static void check_cpus(const char *line, uint64_t cpus, const char *statement)
{
    char text[200];
    snprintf(text, sizeof text, "NodeName=n %s\n", line);
    struct slurm_conf *conf = conf_of(text);
    if (!is_int(conf ? (int64_t)conf->totals.cpus : -1, (int64_t)cpus, statement))
        diag(conf ? line : err.message);
    slurm_conf_destroy(conf);
}

static void check_spec(const char *line, int64_t cpus, const char *statement)
{
    char text[200];
    snprintf(text, sizeof text, "NodeName=n[1-3] %s\n", line);
    struct slurm_conf *conf = conf_of(text);
    if (!is_int(conf ? (int64_t)conf->totals.spec_cpus : -1, 3 * cpus, statement))
        diag(conf ? line : err.message);
    slurm_conf_destroy(conf);
}

static void spec_cpus(void)
{
    check_spec("CPUs=64", 0, "by default, no CPU is specialized");
    check_spec("CPUs=64 CoreSpecCount=4", 4, "a specialized core with one thread is one CPU");
    check_spec("CPUs=64 CoreSpecCount=0", 0, "CoreSpecCount may be 0");
    check_spec("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CoreSpecCount=3", 6,
               "a specialized core has the CPUs of its threads");
    check_spec("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CoreSpecCount=3", 3,
               "a specialized core is one CPU if CPUs are cores");
    check_spec("Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 CpuSpecList=0,3", 4,
               "CpuSpecList reserves whole cores");
    check_spec("Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 CpuSpecList=0-1,6-99", 4,
               "CpuSpecList ends at the last CPU of the node");
    check_spec("CPUs=8 CpuSpecList=0-1 CoreSpecCount=5", 2, "CpuSpecList overrides CoreSpecCount");
    check_spec("CPUs=8 CoreSpecCount=9", 8, "CoreSpecCount reserves at most all CPUs");
    refused("NodeName=n CpuSpecList=1-\n", "CpuSpecList = '1-'",
            "an incomplete CpuSpecList is rejected");
    refused("NodeName=n CoreSpecCount=some\n", "CoreSpecCount = 'some'",
            "a CoreSpecCount that is not a number is rejected");
}

static void cpus(void)
{
    check_cpus("", 1, "a node has one CPU by default");
    check_cpus("Procs=4", 4, "Procs is a former name of CPUs");
    check_cpus("CPUs=8 CoresPerSocket=4 ThreadsPerCore=2", 8,
               "the number of CPUs determines the sockets");
    check_cpus("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 8, "CPUs may be cores");
    check_cpus("CPUs=7 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 16,
               "CPUs that do not match the sockets are ignored");
    check_cpus("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16,
               "SocketsPerBoard is multiplied by Boards");
    check_cpus("Sockets=0 CPUs=0", 1, "0 counts as 1");
}

static void bad_records(void)
{
    refused("NodeName=n[1-4\n", "'slurm.conf', line 1: NodeName = 'n[1-4'",
            "an unterminated node list is rejected");
    refused("NodeName=n CPUs=many\n", "line 1: CPUs = 'many'",
            "CPUs that are not a number are rejected");
    refused("NodeName=DEFAULT CPUs=70000\nNodeName=n\n", "line 2: CPUs = '70000'",
            "CPUs above 65535 are rejected");
    refused("NodeName=n Sockets=65535 CoresPerSocket=65535 ThreadsPerCore=65535\n", "too many CPUs",
            "a product of sockets, cores and threads out of range is rejected");
    refused("NodeName=n RealMemory=1T\n", "line 1: RealMemory = '1T'",
            "RealMemory with a suffix is rejected");
    refused("NodeName=n Gres=:3\n", "line 1: Gres = ':3'",
            "a generic resource without a name is rejected");
    refused("NodeName=n Gres=gpu:9999P\n", "line 1: Gres",
            "a generic resource out of range is rejected");
    refused("NodeName=n CPUs=4 what\n", "line 1: the line contains text that is not KEY=VALUE",
            "a word without = is rejected");
    refused("NodeName=\"\" CPUs=4\n", "line 1: NodeName", "a node without a name is rejected");
    refused("NodeName=n[0-65535],m[0-65535],o\n", "names too many hosts",
            "a list of too many nodes is rejected");
    refused("\nPartitionName=p MaxTime=soon\n", "line 2: MaxTime = 'soon'",
            "an invalid MaxTime is rejected");
    refused("PartitionName=p PriorityJobFactor=65536\n", "line 1: PriorityJobFactor",
            "a PriorityJobFactor above 16 bits is rejected");
    refused("PartitionName=p Nodes=n[\n", "line 1: Nodes = 'n['",
            "a partition's invalid node list is rejected");
    refused("NodeSet=s Nodes=n[\nPartitionName=p Nodes=s\n", "line 1: Nodes = 'n['",
            "a node set's invalid node list is rejected");
}

int main(void)
{
    char directory[] = "/tmp/fmXXXXXX";
    if (!mkdtemp(directory) || chdir(directory))
        return EXIT_FAILURE;
    lines();
    includes();
    times();
    numbers();
    hosts();
    node_sets();
    nodes();
    manual_example();
    pools();
    limits();
    cpus();
    spec_cpus();
    bad_records();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (chdir("/") || system(command))
        diag("the temporary directory was not removed");
    return done_testing();
}
