/* option_table: the table of flags. */
#include "option_table.h"

#include "option_parsers.h"

#include <stddef.h>

const struct option_group_row option_groups[OPTION_GROUP_COUNT] = {
    [GROUP_WHAT] = {OPTION_OP, "What to run (every combination of the listed values)"},
    [GROUP_DATA] = {OPTION_INPUT, "The data (every combination of the listed values)"},
    [GROUP_MEASURING] = {OPTION_SAMPLES, "How to measure"},
    [GROUP_RESULTS] = {OPTION_FORMAT, "The results"},
    [GROUP_QUESTIONS] = {OPTION_LIST, "Instead of running"},
};

enum option_group group_of_option(enum option_id id)
{
    int group = OPTION_GROUP_COUNT - 1;
    while (option_groups[group].first > id)
        group--;
    return (enum option_group)group;
}

enum { MOST_SAMPLES = 1000000, MOST_PERCENT = 1000000 };

/* A member of struct options, which must have the given type: its offset and its size. */
#define AT(type, its_member)                                \
    .at = _Generic(((struct options *)0)->its_member, type  \
                   : offsetof(struct options, its_member)), \
    .bytes = sizeof((struct options *)0)->its_member

/* How the usual kinds of values are read, and where they go. */
#define SETS(its_member) .parse = set_flag, AT(bool, its_member)
#define TEXT(its_member) .parse = parse_text, AT(const char *, its_member)
#define TIME(its_member) .parse = parse_time, AT(double, its_member)
#define ITEMS(take_item, its_count) \
    .parse = parse_items, .take = (take_item), .count_at = offsetof(struct options, its_count)
#define WORDS(names, count, its_member) \
    .parse = parse_words, AT(bool *, its_member), .word = (names), .word_count = (count)
#define ONE_WORD(names, count, type, its_member) \
    .parse = parse_word, AT(type, its_member), .word = (names), .word_count = (count)

const struct option_row option_rows[OPTION_COUNT] = {
    [OPTION_OP] = {.name = "op",
                   .argument = "LIST",
                   .help = "operations:"
#define OPERATION(NAME, name, ...) " " #name
#include "../operations.def"
                           ". Default: scan. --list shows the algorithms of each",
                   WORDS(operation_word, OPERATION_COUNT, operations)},
    [OPTION_ALGO] = {.name = "algo",
                     .letter = 'a',
                     .argument = "LIST",
                     .help = "algorithms by name, by pattern ('efficient*'), by group (all, cpu, "
                             "gpu, own, library), or a CUDA source or .so file of your own "
                             "(./my_scan.cu). Default: all that can run on this machine. The "
                             "default and groups leave out what takes no such type, operator, "
                             "segments or values",
                     .parse = parse_algo},
    [OPTION_COMPILE_FLAGS] = {.name = "compile-flags",
                              .argument = "FLAGS",
                              .help = "flags for the compiler of your own files, separated by "
                                      "blanks: '-DTILE=512 -Iinclude'",
                              .parse = parse_quoted,
                              AT(const char *, compile_flags)},
    [OPTION_CHECK] = {.name = "check",
                      .help = "look for defects instead of measuring times: in the emulator, at "
                              "many sizes, with values at the edges, in several orders of blocks; "
                              "each defect is named once, and exit 3 if there is any. Other flags "
                              "replace what it varies",
                      SETS(check.wanted)},
    [OPTION_N] = {.name = "n",
                  .letter = 'n',
                  .argument = "LIST",
                  .help = "array sizes in elements: 1000, 2^26, 2^26-3, 1e6, 64Ki (65536), 64K "
                          "(64000), or ranges: 2^12..2^29 (doubling), 1..4096*4, 100..900+200. "
                          "Default: 2^20; in the emulator 2^12",
                  .parse = parse_n},
    [OPTION_POT] = {.name = "pot",
                    .help = "run each size as given (the default); with --npot, run both each size "
                            "and its non-power-of-two partner"},
    [OPTION_NPOT] = {.name = "npot",
                     .argument = "RULE",
                     .argument_optional = true,
                     .help = "replace each size by a non-power-of-two partner: 5/8 of it (the "
                             "default), or 3 less (-3)",
                     .parse = parse_npot},
    [OPTION_BLOCK] = {.name = "block",
                      .letter = 'b',
                      .argument = "LIST",
                      .help = "GPU: threads per block, powers of two from 32 to 1024, or auto (the "
                              "default): each algorithm's own choice",
                      ITEMS(take_block, block_count)},
    [OPTION_THREADS] = {.name = "threads",
                        .argument = "LIST",
                        .help = "CPU: number of threads of multi-threaded algorithms, or auto (the "
                                "default): one per processor",
                        ITEMS(take_threads, thread_count)},
    [OPTION_SIMD] = {.name = "simd",
                     .argument = "LIST",
                     .help = "CPU: vector instructions of SIMD algorithms: avx512, avx2, portable, "
                             "or auto (the default): the widest that the CPU has",
                     WORDS(simd_word, SIMD_PATH_COUNT, simd)},
    [OPTION_TYPE] = {.name = "type",
                     .letter = 't',
                     .argument = "LIST",
                     .help = "element types:"
#define TYPE(NAME, name, ...) " " #name
#include "../types.def"
                             ". Default: i32. Integers wrap around; sums of f16 and bf16 are f32",
                     WORDS(type_word, TYPE_COUNT, types)},
    [OPTION_OPERATOR] = {.name = "operator",
                         .argument = "LIST",
                         .help = "scan, reduce: what elements are combined by:"
#define OPERATOR(NAME, name, PROPERTIES, BITS, IDENTITY, INPUT, meaning) " " #name " (" meaning ")"
#include "../operators.def"
                                 ". Default: sum",
                         WORDS(operator_word, OPERATOR_COUNT, operators)},
    [OPTION_KIND] = {.name = "kind",
                     .letter = 'k',
                     .argument = "LIST",
                     .help = "scan: exclusive (the default), inclusive",
                     WORDS(kind_word, KIND_COUNT, kinds)},
    [OPTION_EXCLUSIVE] = {.name = "exclusive", .help = "short for --kind=exclusive"},
    [OPTION_INCLUSIVE] = {.name = "inclusive", .help = "short for --kind=inclusive"},
    [OPTION_SEGMENTS] =
        {.name = "segments",
         .argument = "LIST",
         .help =
             "scan, reduce: how the array is divided into segments, each of which is scanned or "
             "reduced by itself: none (the default), rows:L (rows of L elements), offsets:L (an "
             "array says where each begins) or, of a scan, keys:L (neighbours of one key belong "
             "together). L is the mean length, and lengths vary from 1 to twice that; with "
             "offsets:L:skewed or keys:L:skewed one segment of 64 has nearly all elements",
         ITEMS(take_segments, segments_count)},
    [OPTION_VALUES] = {.name = "values",
                       .argument = "LIST",
                       .help = "sort: values that move with the keys: none (the default), u32 or "
                               "u64. The value of a pair is its index in the input. The check of a "
                               "stable algorithm includes the order of equal keys",
                       WORDS(values_word, VALUE_TYPE_COUNT, values)},
    [OPTION_DEVICE] = {.name = "device",
                       .letter = 'd',
                       .argument = "LIST",
                       .help = "cpu, gpu, a GPU by its number (0, gpu1), or emulator, which runs "
                               "GPU kernels on the CPU. Default: the CPU for CPU algorithms; for "
                               "GPU algorithms the GPU or, without one, the emulator",
                       ITEMS(take_device, device_count),
                       .word = device_word,
                       .word_count = DEVICE_KIND_COUNT},
    [OPTION_GPUS] = {.name = "gpus",
                     .letter = 'g',
                     .argument = "LIST",
                     .help = "how many GPUs, or emulators, share each array in contiguous slices, "
                             "or all; with mpirun, how many each process has. Default: one device "
                             "has the whole array",
                     ITEMS(take_gpus, gpus_count)},
    [OPTION_ENGINE] = {.name = "engine",
                       .argument = "LIST",
                       .help = "how devices that share an array exchange data:"
#define ENGINE(NAME, name, where) " " #name
#include "../engines.def"
#undef ENGINE
                               ". Default: all that can work here",
                       WORDS(engine_word, ENGINE_COUNT, engines)},

    [OPTION_INPUT] = {.name = "input",
                      .letter = 'i',
                      .argument = "LIST",
                      .help = "values of the input, where V is --max:"
#define INPUT(NAME, name, ELEMENT, LARGEST_SUM, KEPT, meaning) " " name " (" meaning ")"
#include "../inputs.def"
                              ". Default: uniform; with --operator=max rising, with min falling",
                      WORDS(input_word, INPUT_SHAPE_COUNT, inputs)},
    [OPTION_MAX] = {.name = "max",
                    .argument = "LIST",
                    .help = "largest value of the input; floats of a recurrence are divided by one "
                            "more. Default: 49; for sort, whose time depends on it, and for the "
                            "operators max, min and recurrence, the largest value of the type",
                    ITEMS(take_max, max_count)},
    [OPTION_KEEP] = {.name = "keep",
                     .argument = "LIST",
                     .help = "compact: fraction of the elements kept. Default: 0.75",
                     ITEMS(take_keep, keep_count)},
    [OPTION_SEED] = {.name = "seed",
                     .argument = "S",
                     .help =
                         "seed of the random input; the same seed makes the same data. Default: 1",
                     .parse = parse_seed},

    [OPTION_SAMPLES] = {.name = "samples",
                        .letter = 's',
                        .argument = "N",
                        .help =
                            "take exactly N samples of each row. Default: as many as "
                            "--max-noise, --min-time and --max-time call for; 100 with --check, "
                            "3 in the emulator",
                        .parse = parse_number,
                        AT(unsigned, sampling.samples),
                        .least = 1,
                        .most = MOST_SAMPLES},
    [OPTION_MAX_NOISE] =
        {.name = "max-noise",
         .argument = "PERCENT",
         .help = "stop sampling a row once its noise is below PERCENT of the median. Default: 0.5",
         .parse = parse_percentage,
         AT(double, sampling.max_noise_pct),
         .most = 100},
    [OPTION_MIN_TIME] = {.name = "min-time",
                         .argument = "TIME",
                         .help = "shortest time to spend on sampling a row: seconds, or "
                                 "milliseconds such as 500ms. Default: 0",
                         TIME(sampling.min_time_ms)},
    [OPTION_MAX_TIME] = {.name = "max-time",
                         .argument = "TIME",
                         .help = "longest time to spend on sampling a row: seconds, or "
                                 "milliseconds such as 500ms. Default: 1 s",
                         TIME(sampling.max_time_ms),
                         .least = 1},
    [OPTION_TIMEOUT] = {.name = "timeout",
                        .argument = "TIME",
                        .help =
                            "longest time for an algorithm's first calls, or for one turn of its "
                            "samples; then it is ended, and its row is an error. Default: none; "
                            "for files of your own, 20 times --max-time, at least 60 s",
                        TIME(timeout_ms),
                        .least = 1},
    [OPTION_WARMUP] = {.name = "warmup",
                       .argument = "N",
                       .help = "untimed runs before the timed ones. Default: 1",
                       .parse = parse_number,
                       AT(unsigned, sampling.warmup),
                       .least = 1,
                       .most = MOST_SAMPLES},
    [OPTION_CACHE] = {.name = "cache",
                      .argument = "LIST",
                      .help =
                          "state of the caches before each sample: cold (flushed; the default), "
                          "dirty (full of lines to write back), hot (left as they are) or both "
                          "(cold and hot)",
                      .parse = parse_cache,
                      .word = cache_word,
                      .word_count = CACHE_STATE_COUNT + 1},
    [OPTION_SCRATCH] = {.name = "scratch",
                        .argument = "WHEN",
                        .help =
                            "kept: set up scratch memory once, untimed, before the timed runs (the "
                            "default); fresh: set it up in each timed run, as part of its time",
                        ONE_WORD(scratch_word, SCRATCH_STATE_COUNT, enum scratch_state, scratch)},
    [OPTION_KERNELS] = {.name = "kernels",
                        .help = "GPU: also write one row per kernel launch: time, share, grid, "
                                "block, shared memory, registers and occupancy",
                        SETS(kernels)},
    [OPTION_COUNTS] = {.name = "counts",
                       .argument_optional = true,
                       .argument = "WHAT",
                       .help = "count what the kernels add and what they do to memory, per row "
                               "and with --kernels per launch: in the emulator additions, "
                               "requests, sectors, bank conflicts, barriers and more, which "
                               "replace the times in the table; on a GPU requests, sectors and "
                               "bank conflicts, if its counters may be read. --counts=lines: in "
                               "the emulator, also one row per line of each kernel's source, that "
                               "with the most traffic first (sectors, passes over the banks, "
                               "atomics)",
                       .parse = parse_counts,
                       .word = counts_word,
                       .word_count = 1},
    [OPTION_COPIES] =
        {.name = "copies",
         .help = "GPU: also time each run together with the copies from host memory and back",
         SETS(copies)},
    [OPTION_PINNED] =
        {.name = "pinned",
         .help =
             "with --copies: copy from and to page-locked host memory. Default: pageable memory",
         SETS(pinned)},
    [OPTION_ENERGY] = {.name = "energy",
                       .help = "GPU: also measure the energy per run, where NVML reports it; takes "
                               "half a second per row",
                       SETS(energy)},
    [OPTION_LOCK_CLOCKS] = {.name = "lock-clocks",
                            .help = "GPU: lock its clocks during the run; NVML must allow that, "
                                    "which takes root as a rule",
                            SETS(lock_clocks)},

    [OPTION_FORMAT] = {.name = "format",
                       .letter = 'f',
                       .argument = "FORMAT",
                       .help = "format of the results: csv, table, json, jsonl (one JSON object "
                               "per line), markdown or verdicts (each defect once; the default "
                               "of --check). Default: that of the ending of --output (.json, "
                               ".jsonl or .md); else a table on a terminal, and CSV elsewhere",
                       .parse = parse_format,
                       .word = format_word,
                       .word_count = FORMAT_COUNT - 1},
    [OPTION_OUTPUT] =
        {.name = "output",
         .letter = 'o',
         .argument = "FILE",
         .help = "write the results to FILE; a file that is not empty is never overwritten",
         .parse = parse_output,
         .writes_file = true},
    [OPTION_APPEND] =
        {.name = "append",
         .help = "with --output: add rows after those in the file; its columns must be the same",
         .writes_file = true},
    [OPTION_RESUME] = {.name = "resume",
                       .help = "with --output: add only the rows that the file lacks. It has a row "
                               "if that is finished, of this seed, build and machine, with any "
                               "number of samples. A row that lost the device twice is not tried "
                               "again",
                       .writes_file = true},
    [OPTION_COLUMNS] = {.name = "columns",
                        .letter = 'c',
                        .argument = "LIST",
                        .help =
                            "write only these columns, in this order; basic stands for those that "
                            "a person wants. --list-columns explains all columns",
                        TEXT(output.columns),
                        .needs = "needs names of columns (--list-columns shows all)"},
    [OPTION_LABEL] = {.name = "label",
                      .argument = "K=V",
                      .help =
                          "write the name K and the value V to the column label of every row; may "
                          "be repeated",
                      .parse = parse_label},
    [OPTION_SAMPLES_FILE] = {.name = "samples-file",
                             .argument = "FILE",
                             .help = "write every sample to FILE as CSV, one per line",
                             TEXT(output.samples_path),
                             .writes_file = true,
                             .needs = "needs the name of a file"},
    [OPTION_JUNIT] = {.name = "junit",
                      .argument = "FILE",
                      .help = "write to FILE, as JUnit XML for graders and CI, which algorithms "
                              "passed their checks, and --fail-slower: a test case for each class "
                              "of sizes. A file that --junit wrote before is overwritten",
                      TEXT(output.junit_path),
                      .writes_file = true,
                      .needs = "needs the name of a file"},
    [OPTION_TRACE] = {.name = "trace",
                      .argument = "FILE",
                      .help = "emulator, up to 1024 elements: write to FILE a page that draws what "
                              "threads read and write, step by step from barrier to barrier, with "
                              "bank conflicts, sectors and active lanes. A page that --trace wrote "
                              "before is overwritten",
                      TEXT(output.trace_path),
                      .writes_file = true,
                      .needs = "needs the name of a file, such as steps.html"},
    [OPTION_BASELINE] =
        {.name = "baseline",
         .argument = "FILE",
         .help = "compare each time with the one in FILE, the CSV file of an earlier run, and say "
                 "whether the change exceeds the noise. If FILE has several runs, their median "
                 "counts. In the emulator, compare the counts of --counts instead",
         TEXT(output.baseline_path),
         .needs = "needs the name of a CSV file that scanbench wrote"},
    [OPTION_FAIL_SLOWER] = {.name = "fail-slower",
                            .argument = "PERCENT",
                            .help = "with --baseline: exit 5 if any row is slower than the "
                                    "baseline by more than the noise and more than PERCENT, and 1 "
                                    "if no row could be compared. Rows that --resume keeps count",
                            .parse = parse_percentage,
                            AT(double, output.fail_slower_pct),
                            .most = MOST_PERCENT},
    [OPTION_STRICT] = {.name = "strict",
                       .help = "exit 3 unless every row passed. A skipped row has not passed. Rows "
                               "in the file that --resume continues count, too. With "
                               "--fail-slower, exit 1 if the baseline lacks a row",
                       SETS(strict)},
    [OPTION_SHOW] =
        {.name = "show",
         .argument = "N",
         .help = "print the first N elements and the last element of input and result to stderr",
         .parse = parse_number,
         AT(unsigned, show),
         .most = MOST_SAMPLES},
    [OPTION_PROGRESS] = {.name = "progress",
                         .argument = "WHEN",
                         .help = "show on stderr what is running and the time left: auto (on a "
                                 "terminal; the default), always or never",
                         ONE_WORD(progress_word, PROGRESS_WHEN_COUNT, unsigned, progress)},
    [OPTION_QUIET] = {.name = "quiet",
                      .letter = 'q',
                      .help = "print no notes on stderr, only errors",
                      SETS(quiet)},

    [OPTION_LIST] = {.name = "list",
                     .letter = 'l',
                     .help = "list the algorithms and where each runs; --op, --algo and --device "
                             "select some of them; with --format=json for programs"},
    [OPTION_LIST_COLUMNS] = {.name = "list-columns",
                             .help = "list the columns of the results and their meanings"},
    [OPTION_DEVICE_INFO] = {.name = "device-info",
                            .help = "print the names and limits of the devices, and how many "
                                    "blocks of each size are resident; as JSON with --format=json"},
    [OPTION_DRY_RUN] =
        {.name = "dry-run",
         .help = "print what would be run, the memory it needs and how long sampling would take, "
                 "without running it"},
    [OPTION_MANUAL] = {.name = "manual",
                       .help = "show the manual page, which also explains the columns, JSON and "
                               "the environment"},
    [OPTION_GENERATE] =
        {.name = "generate",
         .argument = "WHAT",
         .help = "print the manual page (man) or the completions of a shell (bash, zsh, fish)",
         ONE_WORD(generated_word, GENERATED_COUNT, unsigned, generated)},
    [OPTION_VERSION] = {.name = "version", .letter = 'V', .help = "print the version"},
    [OPTION_HELP] = {.name = "help", .letter = 'h', .help = "print this help"},
};
