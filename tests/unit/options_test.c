/* options_test: command lines, good and bad. Links tests/unit/stub_algorithms.c instead of
 * bench/table.c. */
#define _GNU_SOURCE /* open_memstream */
#include "../../bench/base/errors.h"
#include "../../bench/cli/common_flags.h"
#include "../../bench/cli/manual.h"
#include "../../bench/cli/option_table.h"
#include "../../bench/cli/parse_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST_WORDS = 32, STDERR_BYTES = 4096 };

/* Parses a command line of words separated by spaces. `errors` receives stderr. `line` must
 * outlive `options`. */
static int parse_line(char *line, struct options *options, char errors[STDERR_BYTES])
{
    char *argv[MOST_WORDS + 2] = {"scanbench"};
    int argc = 1;
    for (char *word = strtok(line, " "); word && argc <= MOST_WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;

    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int code = parse_options(argc, argv, options);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    errors[fread(errors, 1, STDERR_BYTES - 1, file)] = '\0';
    fclose(file);
    return code;
}

static char good_line[512]; /* the line of the last good(), which its options point into */

static struct options good(const char *text)
{
    struct options options;
    char errors[STDERR_BYTES];
    strcpy(good_line, text);
    if (parse_line(good_line, &options, errors) != EXIT_OK)
        fail_msg("%s: %s", text, errors);
    assert_string_equal(errors, "");
    return options;
}

/* Expects one line on stderr that contains each of the `parts`, which `|` separates. */
static void expect_bad(const char *text, const char *parts)
{
    struct options options;
    char errors[STDERR_BYTES], line[512], wanted[256];
    strcpy(line, text);
    strcpy(wanted, parts);
    if (parse_line(line, &options, errors) != EXIT_USAGE)
        fail_msg("%s: accepted", text);
    if (strncmp(errors, "scanbench: ", 11) != 0 || strchr(errors, '\n') != strrchr(errors, '\n'))
        fail_msg("%s: not one line: %s", text, errors);
    for (char *part = strtok(wanted, "|"); part; part = strtok(NULL, "|"))
        if (!strstr(errors, part))
            fail_msg("%s: no \"%s\" in: %s", text, part, errors);
    free_options(&options); /* harmless after a failure */
}

static int count_set(const bool *set, int count)
{
    int result = 0;
    for (int i = 0; i < count; i++)
        result += set[i];
    return result;
}

static void defaults(void **state)
{
    (void)state;
    struct options options = good("");
    assert_int_equal(options.action, ACTION_RUN);
    assert_true(options.operations[OP_SCAN] && !options.operations[OP_COMPACT]);
    assert_true(options.types[TYPE_I32] && !options.types[TYPE_U32]);
    assert_true(options.kinds[KIND_EXCLUSIVE] && !options.kinds[KIND_INCLUSIVE]);
    assert_true(options.cache[CACHE_COLD] && !options.cache[CACHE_HOT]);
    assert_int_equal(options.algo_word_count, 0);
    assert_int_equal(options.sizes.count, 1);
    assert_int_equal(options.sizes.n[0], 1 << 20);
    assert_int_equal(options.simulated_sizes.count, 1);
    assert_int_equal(options.simulated_sizes.n[0], 1 << 12);
    assert_int_equal(options.block_count, 1);
    assert_int_equal(options.blocks[0], 0);
    assert_int_equal(options.thread_count, 1);
    assert_int_equal(options.device_count, 0);
    assert_int_equal(count_set(options.inputs, INPUT_SHAPE_COUNT), 1);
    assert_true(options.inputs[INPUT_UNIFORM]);
    assert_int_equal(options.max_count, 0); /* each operation has its own */
    assert_int_equal(options.keep_count, 1);
    assert_string_equal(options.keeps[0].text, "0.75");
    assert_int_equal(options.seed, 1);
    assert_int_equal(options.sampling.samples, 0);
    assert_int_equal(options.sampling.warmup, 1);
    assert_true(options.sampling.max_noise_pct == 0.5);
    assert_true(options.sampling.min_time_ms == 0);
    assert_true(options.sampling.max_time_ms == 1000);
    assert_int_equal(options.output.format, FORMAT_AUTO);
    assert_null(options.output.path);
    assert_null(options.output.columns);
    assert_false(options.quiet);
    free_options(&options);
}

static void every_flag(void **state)
{
    (void)state;
    struct options options =
        good("--op=scan,compact --algo=naive,cpu,naive --n=0,1,2^5 --block=auto,32..128,64 "
             "--threads=1..8,auto --type=f32,u64,f32 --kind=inclusive,exclusive --input=few,sorted "
             "--max=1e3,7,1000 --keep=.5,0,0.50 --seed=2^64-1 --samples=10 --warmup=3 --cache=both "
             "--device=cpu,gpu,0,gpu1,emulator --format=csv --output=x.json --columns=n,algo "
             "--show=4 --quiet --kernels --copies --pinned --resume "
             "--label=a=1 --label=b=2 --samples-file=s.csv --progress=never --baseline=b.csv "
             "--fail-slower=2.5% --strict --dry-run");
    assert_int_equal(options.action, ACTION_DRY_RUN);
    assert_true(options.operations[OP_SCAN] && options.operations[OP_COMPACT]);
    assert_int_equal(options.algo_word_count, 2);
    assert_string_equal(options.algo_words[1], "cpu");
    assert_int_equal(options.sizes.count, 3);
    static const unsigned blocks[] = {0, 32, 64, 128};
    assert_int_equal(options.block_count, COUNT(blocks));
    assert_memory_equal(options.blocks, blocks, sizeof blocks);
    static const unsigned threads[] = {1, 2, 4, 8, 0};
    assert_int_equal(options.thread_count, COUNT(threads));
    assert_memory_equal(options.threads, threads, sizeof threads);
    assert_true(options.types[TYPE_F32] && options.types[TYPE_U64] && !options.types[TYPE_I32]);
    assert_true(options.kinds[KIND_EXCLUSIVE] && options.kinds[KIND_INCLUSIVE]);
    assert_int_equal(count_set(options.inputs, INPUT_SHAPE_COUNT), 2);
    assert_true(options.inputs[INPUT_SORTED] && options.inputs[INPUT_FEW]);
    assert_int_equal(options.max_count, 2);
    assert_int_equal(options.maxima[0].value, 1000);
    assert_string_equal(options.maxima[0].text, "1e3");
    assert_int_equal(options.maxima[1].value, 7);
    assert_int_equal(options.keep_count, 2);
    assert_true(options.keeps[0].value == 0.5 && options.keeps[1].value == 0);
    assert_string_equal(options.keeps[0].text, ".5");
    assert_true(options.seed == UINT64_MAX);
    assert_int_equal(options.sampling.samples, 10);
    assert_int_equal(options.sampling.warmup, 3);
    assert_true(options.cache[CACHE_COLD] && options.cache[CACHE_HOT]);
    assert_int_equal(options.device_count, 4);
    assert_int_equal(options.devices[1].kind, DEVICE_GPU);
    assert_int_equal(options.devices[2].index, 1);
    assert_int_equal(options.devices[3].kind, DEVICE_EMULATOR);
    assert_int_equal(options.output.format, FORMAT_CSV);
    assert_string_equal(options.output.path, "x.json");
    assert_string_equal(options.output.columns, "n,algo");
    assert_int_equal(options.show, 4);
    assert_true(options.quiet && options.strict);
    assert_true(options.kernels && options.copies && options.pinned);
    assert_int_equal(options.output.opening, FILE_RESUME);
    assert_string_equal(options.label, "a=1,b=2");
    assert_string_equal(options.output.samples_path, "s.csv");
    assert_string_equal(options.output.baseline_path, "b.csv");
    assert_true(options.output.fail_slower_pct == 2.5);
    assert_int_equal(options.progress, PROGRESS_NEVER);
    free_options(&options);
}

static void short_flags_and_the_last_one_wins(void **state)
{
    (void)state;
    struct options options =
        good("-a serial -a naive,thrust -n 5 -n2^4 -b 32 -b64 -tf64 -d gpu -f csv -o a -o - -qs7");
    assert_int_equal(options.algo_word_count, 2);
    assert_string_equal(options.algo_words[0], "naive");
    assert_int_equal(options.sizes.count, 1);
    assert_int_equal(options.sizes.n[0], 16);
    assert_int_equal(options.block_count, 1);
    assert_int_equal(options.blocks[0], 64);
    assert_null(options.output.path);
    assert_int_equal(options.sampling.samples, 7);
    free_options(&options);
}

static void times_and_noise(void **state)
{
    (void)state;
    struct options options = good("--min-time=20ms --max-time=2 --max-noise=1.5%");
    assert_true(options.sampling.min_time_ms == 20);
    assert_true(options.sampling.max_time_ms == 2000);
    assert_true(options.sampling.max_noise_pct == 1.5);
    free_options(&options);

    options = good("--min-time=5s"); /* above the default of --max-time */
    assert_true(options.sampling.max_time_ms == 5000);
    free_options(&options);
}

static void partners_of_sizes(void **state)
{
    (void)state;
    struct options options = good("--n=16,64 --npot");
    assert_int_equal(options.sizes.count, 2);
    assert_int_equal(options.sizes.n[1], 40);
    free_options(&options);

    options = good("--npot=-3 --pot --n=16,64");
    static const uint64_t both[] = {16, 13, 64, 61};
    assert_int_equal(options.sizes.count, COUNT(both));
    assert_memory_equal(options.sizes.n, both, sizeof both);
    free_options(&options);

    options = good("--pot --n=16");
    assert_int_equal(options.sizes.count, 1);
    free_options(&options);
}

static void kinds(void **state)
{
    (void)state;
    struct options options = good("--inclusive");
    assert_true(options.kinds[KIND_INCLUSIVE] && !options.kinds[KIND_EXCLUSIVE]);
    free_options(&options);
    options = good("--kind=inclusive --inclusive");
    assert_true(options.kinds[KIND_INCLUSIVE] && !options.kinds[KIND_EXCLUSIVE]);
    free_options(&options);
}

static void help_and_version_go_first(void **state)
{
    (void)state;
    struct options options = good("--list --help --nonsense");
    assert_int_equal(options.action, ACTION_HELP);
    free_options(&options);
    options = good("-n 5 -V -h");
    assert_int_equal(options.action, ACTION_VERSION);
    free_options(&options);
}

static void bad_flags(void **state)
{
    (void)state;
    expect_bad("--blok=64", "unknown flag --blok;|did you mean --block?");
    expect_bad("--zzzzzzzz", "unknown flag --zzzzzzzz|--help");
    expect_bad("--=5", "unknown flag --");
    expect_bad("--ma=5", "ambiguous flag --ma;|--max or --max-noise or --max-time or --manual");
    expect_bad("-x", "unknown flag -x|--help");
    expect_bad("-qx", "unknown flag -x");
    expect_bad("--n", "--n needs a value: --n=LIST");
    expect_bad("-q -b", "--block needs a value: --block=LIST");
    expect_bad("--algo --n=5", "--algo needs a value|--n=5 follows");
    expect_bad("--list=5", "--list takes no value|--list=5");
    expect_bad("--npot -3", "--npot=-3");
    expect_bad("naive", "unexpected argument \"naive\"|--algo=naive");
    expect_bad("--n 1000 2000", "unexpected argument \"2000\"|--n=2000");
    expect_bad("-q -- hello", "unexpected argument \"hello\"|--help");
}

static void bad_values(void **state)
{
    (void)state;
    expect_bad("--op=scam",
               "--op=scam is not known|did you mean \"scan\"|it must be scan, compact, sort");
    expect_bad("--op=sort", "--op=sort|no algorithm for sort");
    expect_bad("--op=scan,", "--op=scan, has an empty item");
    expect_bad("--algo=effcient-smem",
               "--algo=effcient-smem|did you mean \"efficient-smem\"|--list");
    expect_bad("--algo=serial,naif", "\"naif\"|did you mean \"naive\"");
    expect_bad("--algo=qqqqq", "--algo=qqqqq is not an algorithm|--list");
    expect_bad("--algo=q*", "matches no algorithm");
    expect_bad("--algo=", "--algo= needs a value");
    expect_bad("--n=2^99", "--n=2^99: \"2^99\" is above the largest size, 2^40");
    expect_bad("--n=", "--n= needs a size");
    expect_bad("--n -5", "--n=-5: \"-5\" is negative");
    expect_bad("--n=4B", "elements, not bytes");
    expect_bad("--block=48", "--block=48 is not a power of two from 32 to 1024|did you mean 64?");
    expect_bad("--block=2048", "did you mean 1024?");
    expect_bad("--block=0", "did you mean 32?");
    expect_bad("--block=32,x", "\"x\" is not a power of two");
    expect_bad("--block=32..1024+32", "holds 96");
    expect_bad("--simd=avx3", "did you mean \"avx2\"? (it must be auto, portable, avx2 or avx512)");
    expect_bad("--threads=0", "number of threads from 1 to 4096");
    expect_bad("--threads=1..65+1", "at most 64");
    expect_bad("--type=int32", "did you mean \"i32\"");
    expect_bad("--type=float", "it must be i32, u32, i64");
    expect_bad("--kind=inclusiv", "did you mean \"inclusive\"");
    expect_bad("--device=cuda", "cpu, gpu");
    expect_bad("--device=emu", "did you mean \"emulator\"");
    expect_bad("--device=gpu1000", "is not a device");
    expect_bad("--device=-1", "is not a device");
    expect_bad("--device=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "at most 16 devices");
    expect_bad("--input=one", "did you mean \"ones\"");
    expect_bad("--cache=warm", "cold, dirty, hot or both");
    expect_bad("--format=cvs", "did you mean \"csv\"");
    expect_bad("--max=-1", "--max=-1 is negative");
    expect_bad("--max=0", "--input=zeros");
    expect_bad("--max=7,0", "\"0\" is below 1");
    expect_bad("--max=7,", "has an empty item");
    expect_bad("--max=7,2^31,9", "--max=2^31 is too large for --type=i32");
    expect_bad("--max=300000000000", "too large for --type=i32|2147483647");
    expect_bad("--max=2^64 --type=u64", "2^64-1");
    expect_bad("--max=2^23+1 --type=f32", "8388608");
    expect_bad("--segments=columns:7", "is not a form of segments|rows:L|offsets:L|keys:L");
    expect_bad("--segments=rows", "is not a form of segments");
    expect_bad("--segments=row:7", "is not a form of segments");
    expect_bad("--segments=rows:", "from 1 to 2^40");
    expect_bad("--segments=rows:0", "from 1 to 2^40");
    expect_bad("--segments=keys:2^41", "from 1 to 2^40");
    expect_bad("--segments=none,keys:x", "\"keys:x\" has no length");
    expect_bad("--segments=rows:7:skewed", "has \":skewed\" after its length");
    expect_bad("--segments=keys:7:even", "has \":even\" after its length|keys:L:skewed");
    expect_bad("--segments=", "needs a value");
    expect_bad("--keep=1.1 --op=compact", "from 0 to 1");
    expect_bad("--keep=nan --op=compact", "from 0 to 1");
    expect_bad("--seed=x", "0 to 2^64-1");
    expect_bad("--samples=0", "from 1 to 1000000");
    expect_bad("--warmup=0", "from 1 to 1000000");
    expect_bad("--show=-1", "from 0 to 1000000");
    expect_bad("--max-noise=101", "from 0 to 100");
    expect_bad("--max-time=0", "above 0");
    expect_bad("--max-time=1e999", "up to a day");
    expect_bad("--min-time=0x10", "a day");
    expect_bad("--min-time=inf", "a day");
    expect_bad("--min-time=5m", "500ms");
    expect_bad("--output=", "name of a file");
    expect_bad("--columns=", "--list-columns");
    expect_bad("--npot=3/4", "5/8");
    expect_bad("--npot=", "no value after the =");
}

static void largest_values_fit(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--max=2^31-1",          "--max=2^32-1 --type=u32",   "--max=2^64-1 --type=u64",
        "--max=2^23 --type=f32", "--max=2^52 --type=f64,i64",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct options options = good(lines[i]);
        free_options(&options);
    }
}

static void contradictions(void **state)
{
    (void)state;
    expect_bad("--list --device-info", "--list contradicts --device-info");
    expect_bad("--dry-run --list-columns", "contradicts");
    expect_bad("--inclusive --exclusive", "contradicts|--kind=exclusive,inclusive");
    expect_bad("--kind=exclusive --inclusive", "--kind=exclusive contradicts --inclusive");
    expect_bad("--kind=exclusive,inclusive --exclusive", "contradicts");
    expect_bad("--op=compact --inclusive", "--inclusive belongs to scan");
    expect_bad("--op=compact --operator=max", "--operator=max belongs to scan");
    expect_bad("--op=compact --segments=rows:7",
               "--segments=rows:7 belongs to scan and reduction; add --op=scan or leave it out");
    expect_bad("--samples=5 --max-noise=1", "--samples=5 contradicts --max-noise=1");
    expect_bad("--samples=5 --min-time=1", "contradicts");
    expect_bad("--baseline=b.csv --fail-slower -q", "--fail-slower needs a value|-q follows it");
    expect_bad("--append --resume --output=rows.csv", "--append contradicts --resume");
    expect_bad("--append --output=rows.json", "--append contradicts --output=rows.json|CSV");
    expect_bad("--samples=5 --max-time=1", "contradicts");
    expect_bad("--min-time=2 --max-time=1", "the least time is above the most");
    expect_bad("--npot --npot=-3", "--npot=-3 contradicts");
    expect_bad("--keep=0.5", "--keep=0.5 belongs to compaction|--op=compact");
    expect_bad("--block=64 --device=cpu", "--block=64 contradicts --device=cpu");
    expect_bad("--threads=2 --device=gpu,emulator", "--threads=2 contradicts");
    expect_bad("--simd=avx2 --device=gpu,emulator", "--simd=avx2 contradicts");
    expect_bad("--simd=avx2 --algo=serial", "uses the CPU's vector instructions");
    expect_bad("--block=64 --algo=serial", "no chosen algorithm takes a block size");
    expect_bad("--threads=2 --algo=serial", "no chosen algorithm uses several CPU threads");
    expect_bad("--algo=naive --device=cpu",
               "--algo=naive does not run on --device=cpu|gpu, emulator");
    expect_bad("--algo=thrust --device=emulator", "it runs on gpu");
    expect_bad("--algo=gpu --device=cpu", "does not run on");
    expect_bad("--algo=serial-scan", "--algo=serial-scan|--op=compact");
}

static void choices_that_fit(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--block=auto --device=cpu",
        "--block=64 --device=gpu --algo=naive",
        "--block=64 --device=cpu,emulator",
        "--threads=2 --device=cpu",
        "--algo=thrust --device=gpu",
        "--op=compact --keep=0.5 --algo=serial-scan",
        "--list --list",
        "--npot=5/8 --npot",
        "--operator=recurrence --type=f32,i32",
        "--segments=none,rows:7,offsets:2^10:skewed,keys:64K",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct options options = good(lines[i]);
        free_options(&options);
    }
}

static void what_is_echoed_is_harmless(void **state)
{
    (void)state;
    expect_bad("--algo=\x1b[31mred\nline", "--algo=?[31mred?line");
    expect_bad("--bl\x1b\x9bok", "--bl??ok");
    expect_bad("-\x1b", "unknown flag -?");
    expect_bad("-\xff", "unknown flag -?");
    expect_bad("--algo=\xc3\xa9\xc2\x9b", "--algo=\xc3\xa9??");
    char line[400] = "--type=";
    memset(line + 7, 'y', 300);
    expect_bad(line, "yyy...");
    memset(line + 7, ',', 300);
    expect_bad(line, "empty item");
}

/* Random command lines from the parser's tokens: none may crash, leak or print more than one
 * line. */
static void random_command_lines(void **state)
{
    static const char *const pieces[] = {
        "--",    "-",      "=",    ",",    "..",     "*",  "+",     "^",     "2",   "1e",
        "99",    "Ki",     " ",    "n",    "algo",   "op", "block", "type",  "max", "npot",
        "naive", "device", "cpu",  ".",    "0x",     "B",  "\xff",  "\t",    "pot", "time",
        "s",     "gpu",    "keep", "list", "-noise", "[",  "?",     " --n=",
    };
    (void)state;
    srand(1);
    for (int i = 0; i < 3000; i++) {
        char line[512] = "", errors[STDERR_BYTES];
        for (int length = rand() % 16; length > 0; length--)
            strcat(line, pieces[(size_t)rand() % COUNT(pieces)]);
        struct options options;
        int code = parse_line(line, &options, errors);
        assert_true(code == EXIT_OK ? !errors[0] : strchr(errors, '\n') == strrchr(errors, '\n'));
        free_options(&options);
    }
}

static void help_tells_every_flag(void **state)
{
    (void)state;
    char text[16384];
    FILE *file = tmpfile();
    assert_non_null(file);
    print_help(file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (int id = 0; id < OPTION_COUNT; id++) {
        assert_non_null(option_rows[id].name);
        assert_non_null(strstr(text, option_rows[id].name));
    }
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++)
        assert_non_null(strstr(text, input_shape_name((enum input_shape)shape)));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 88);
}

static void no_letter_twice(void **state)
{
    (void)state;
    for (int a = 0; a < OPTION_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_false(option_rows[a].letter && option_rows[a].letter == option_rows[b].letter);
}

static void an_unknown_word_gets_all_that_are_known(void **state)
{
    (void)state;
    int closed_sets = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        char text[64], parts[256];
        snprintf(text, sizeof text, "--%s=~", row->name);
        snprintf(parts, sizeof parts, "--%s=~", row->name);
        for (int i = 0; i < row->word_count; i++) {
            strcat(parts, "|");
            strcat(parts, row->word(i));
        }
        if (row->word_count > 0)
            expect_bad(text, parts);
        closed_sets += row->word_count > 0;
    }
    assert_true(closed_sets > 5);
}

/* ---- what several processes must share ---- */

/* A flag, and others that it needs. */
static const struct {
    const char *flag, *with;
} each_flag[OPTION_COUNT] = {
    [OPTION_OP] = {"--op=compact", ""},
    [OPTION_ALGO] = {"--algo=serial", ""},
    [OPTION_N] = {"--n=77", ""},
    [OPTION_POT] = {"--pot", "--npot"},
    [OPTION_NPOT] = {"--npot", ""},
    [OPTION_BLOCK] = {"--block=64", ""},
    [OPTION_THREADS] = {"--threads=2", ""},
    [OPTION_TYPE] = {"--type=f64", ""},
    [OPTION_OPERATOR] = {"--operator=max", ""},
    [OPTION_SEGMENTS] = {"--segments=rows:100", ""},
    [OPTION_KIND] = {"--kind=inclusive", ""},
    [OPTION_EXCLUSIVE] = {"--exclusive", ""},
    [OPTION_INCLUSIVE] = {"--inclusive", ""},
    [OPTION_DEVICE] = {"--device=emulator", ""},
    [OPTION_COMPILE_FLAGS] = {"--compile-flags -g", ""}, /* no -g of ours */
    [OPTION_CHECK] = {"--check", ""},
    [OPTION_GPUS] = {"--gpus=2", ""},
    [OPTION_ENGINE] = {"--engine=peer", "--gpus=2"},
    [OPTION_INPUT] = {"--input=ones", ""},
    [OPTION_MAX] = {"--max=5", ""},
    [OPTION_KEEP] = {"--keep=0.5", "--op=compact"},
    [OPTION_SEED] = {"--seed=2", ""},
    [OPTION_SAMPLES] = {"--samples=5", ""},
    [OPTION_MAX_NOISE] = {"--max-noise=2", ""},
    [OPTION_MIN_TIME] = {"--min-time=500ms", ""},
    [OPTION_MAX_TIME] = {"--max-time=2", ""},
    [OPTION_TIMEOUT] = {"--timeout=2", ""},
    [OPTION_WARMUP] = {"--warmup=2", ""},
    [OPTION_CACHE] = {"--cache=hot", ""},
    [OPTION_KERNELS] = {"--kernels", ""},
    [OPTION_COUNTS] = {"--counts", ""},
    [OPTION_SCRATCH] = {"--scratch=fresh", ""},
    [OPTION_COPIES] = {"--copies", ""},
    [OPTION_PINNED] = {"--pinned", "--copies"},
    [OPTION_ENERGY] = {"--energy", ""},
    [OPTION_LOCK_CLOCKS] = {"--lock-clocks", ""},
    [OPTION_FORMAT] = {"--format=json", ""},
    [OPTION_OUTPUT] = {"--output=rows.csv", ""},
    [OPTION_APPEND] = {"--append", "--output=rows.csv"},
    [OPTION_RESUME] = {"--resume", "--output=rows.csv"},
    [OPTION_COLUMNS] = {"--columns=n", ""},
    [OPTION_LABEL] = {"--label=a=b", ""},
    [OPTION_SAMPLES_FILE] = {"--samples-file=samples.csv", ""},
    [OPTION_JUNIT] = {"--junit=checks.xml", ""},
    [OPTION_TRACE] = {"--trace=steps.html", "--n=16 --device=emulator"},
    [OPTION_BASELINE] = {"--baseline=rows.csv", ""},
    [OPTION_FAIL_SLOWER] = {"--fail-slower=5", "--baseline=rows.csv"},
    [OPTION_STRICT] = {"--strict", ""},
    [OPTION_SHOW] = {"--show=3", ""},
    [OPTION_PROGRESS] = {"--progress=always", ""},
    [OPTION_QUIET] = {"--quiet", ""},
    [OPTION_LIST] = {"--list", ""},
    [OPTION_LIST_COLUMNS] = {"--list-columns", ""},
    [OPTION_DEVICE_INFO] = {"--device-info", ""},
    [OPTION_DRY_RUN] = {"--dry-run", ""},
    [OPTION_GENERATE] = {"--generate=zsh", ""},
    [OPTION_MANUAL] = {"--manual", ""},
    [OPTION_VERSION] = {"--version", ""},
    [OPTION_HELP] = {"--help", ""},
};

struct settings {
    char *bytes;
    size_t count;
};

static struct settings common_settings(const char *line)
{
    struct settings settings;
    struct options options = good(line);
    FILE *out = open_memstream(&settings.bytes, &settings.count);
    write_common_settings(&options, out);
    fclose(out);
    free_options(&options);
    return settings;
}

static bool are_alike(const char *a, const char *b)
{
    const struct settings x = common_settings(a), y = common_settings(b);
    const bool alike = x.count == y.count && memcmp(x.bytes, y.bytes, x.count) == 0;
    free(x.bytes);
    free(y.bytes);
    return alike;
}

/* A new flag that is about the run must be among what processes share. */
static void processes_share_every_flag_but_those_about_results(void **state)
{
    (void)state;
    for (int id = 0; id < OPTION_COUNT; id++) {
        char line[sizeof good_line];
        const char *with = each_flag[id].with;
        if (id == OPTION_VALUES || id == OPTION_SIMD) /* no row of this table takes them */
            continue;
        if (each_flag[id].flag == NULL)
            fail_msg("--%s: not in each_flag", option_rows[id].name);
        snprintf(line, sizeof line, "%s %s", with, each_flag[id].flag);
        const bool may_differ =
            (group_of_option(id) == GROUP_RESULTS && id != OPTION_SHOW) || id == OPTION_EXCLUSIVE;
        if (are_alike(with, line) != may_differ)
            fail_msg("%s: processes %s differ in it", each_flag[id].flag,
                     may_differ ? "cannot" : "can");
    }
}

static void what_is_the_same_in_other_words_is_shared(void **state)
{
    (void)state;
    assert_true(are_alike("--n=1024,2048", "-n 2^10..2^11"));
    assert_true(are_alike("--kind=inclusive", "--inclusive"));
    assert_true(are_alike("--seed=1 --type=i32", ""));
    assert_true(are_alike("--block=64,128,256 --block=32", "--block=32"));
    assert_true(are_alike("--threads=1..8 --threads=2", "--threads=2"));
    assert_true(are_alike("--n=1..100+1 --n=5", "--n=5"));
    assert_false(are_alike("--n=1024,2048", "--n=2048,1024"));
    assert_true(
        are_alike("--max=1024 --keep=0.5 --op=compact", "--max=2^10 --keep=.50 --op=compact"));
    assert_false(are_alike("--max=1,2", "--max=1,3"));
    assert_true(are_alike("--segments=rows:1024,none", "--segments=rows:2^10,none"));
    assert_true(are_alike("--segments=none", ""));
    assert_false(are_alike("--segments=keys:7", "--segments=offsets:7"));
    assert_false(are_alike("--segments=keys:7", "--segments=keys:7:skewed"));
    assert_false(are_alike("--segments=keys:7", "--segments=keys:8"));
    assert_false(are_alike("--algo=serial", "--algo=seria*"));
    assert_false(are_alike("--threads=1,2", "--threads=1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_flag),
        cmocka_unit_test(short_flags_and_the_last_one_wins),
        cmocka_unit_test(times_and_noise),
        cmocka_unit_test(partners_of_sizes),
        cmocka_unit_test(kinds),
        cmocka_unit_test(help_and_version_go_first),
        cmocka_unit_test(bad_flags),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(largest_values_fit),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(choices_that_fit),
        cmocka_unit_test(what_is_echoed_is_harmless),
        cmocka_unit_test(random_command_lines),
        cmocka_unit_test(help_tells_every_flag),
        cmocka_unit_test(no_letter_twice),
        cmocka_unit_test(an_unknown_word_gets_all_that_are_known),
        cmocka_unit_test(processes_share_every_flag_but_those_about_results),
        cmocka_unit_test(what_is_the_same_in_other_words_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
