/* translate: CUDA becomes C++, line by line. */
#include "../../bench/own/translate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *translate(const char *text, struct untranslatable *why)
{
    return translate_cuda(text, strlen(text), "/emulator/headers", why);
}

/* Every part, which end with NULL, is in the translated text. */
static void becomes(const char *text, const char *const *parts)
{
    struct untranslatable why;
    char *translated = translate(text, &why);
    if (translated == NULL) {
        fail_msg("%s: %s", text, why.what);
        return;
    }
    for (; *parts != NULL; parts++)
        if (strstr(translated, *parts) == NULL)
            fail_msg("%s: no %s in: %s", text, *parts, translated);
    free(translated);
}

static void stays(const char *text)
{
    struct untranslatable why;
    char *translated = translate(text, &why);
    assert_non_null(translated);
    assert_string_equal(translated, text);
    free(translated);
}

static void what_is_no_cuda_stays(void **state)
{
    (void)state;
    stays("");
    stays("# 1 \"a.cu\"\nint main() { return 1 << 2; }\n");
    stays("const char *s = \"k<<<1, 2>>>(x); __shared__ int a;\"; char c = '\"';\n");
    stays("const char *s = R\"(k<<<1, 2>>>(x);)\";\n");
    stays("auto n = 1'000'000; std::vector<std::vector<std::vector<int>>> v;\n");
    stays("void f() { asm volatile(\"\" ::: \"memory\"); }\n");
}

static void launches(void **state)
{
    (void)state;
    static const struct {
        const char *text, *parts[5];
    } cases[] = {
        {"k<<<1, 2>>>(x);",
         {"plain_configure(1, 2)", "\"k\"", "&k)", "{ k(arguments_...)", ")(x);"}},
        {"k<<<g, b, n * sizeof(int), s>>>();", {"plain_configure(g, b, n * sizeof(int), s)"}},
        {"k<<< dim3(1, 2), f(a, b) >>>(x);", {"plain_configure(dim3(1, 2), f(a, b))"}},
        {"k<int, (N > 4)><<<1, 2>>>(x);", {"\"k\"", "&k<int, (N > 4)>)"}},
        {"a::b<T>::k<T, 3><<<1, 2>>>(x);", {"\"k\"", "&a::b<T>::k<T, 3>)"}},
        {"::k<<<1, 2>>>(x);", {"&::k)"}},
        {"a.kernel<<<1, 2>>>(x);", {"&a.kernel)"}},
        {"p->kernel[3]<<<1, 2>>>(x);", {"&p->kernel[3])"}},
        {"(*p)<<<1, 2>>>(x);", {"&(*p))"}},
        {"if (a < b) k<<<1, 2>>>(x);", {"if (a < b) ::plain_launch("}},
        {"return k<<<1, 2>>>(x);", {"return ::plain_launch("}},
        {"k<<<1, v<w<int>>::n>>>(x);", {"plain_configure(1, v<w<int>>::n)"}},
        {"k << <1, 2> >>(x);", {"plain_configure(1, 2)"}},
        {"m\\u00e9\\U000000e8s<<<1, 2>>>(x);", {"plain_configure(1, 2)", "&m\\u00e9\\U000000e8s)"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *parts[6] = {NULL};
        memcpy(parts, cases[i].parts, sizeof cases[i].parts);
        becomes(cases[i].text, parts);
    }
}

static void shared_variables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *parts[4];
    } cases[] = {
        {"void f() { __shared__ int a[64]; }", {"{ int a[64]; };", "\"a\"", "auto &a = ", "->a;"}},
        {"void f() { __shared__ int a[2][3], b; }",
         {"{ int a[2][3]; };", "{ int b; };", "auto &b"}},
        {"void f() { __shared__ volatile T<int, 3> a; }", {"{ volatile T < int , 3 > a; };"}},
        {"void f() { static __shared__ int a; }", {"{ int a; };"}},
        {"void f() { __shared__ __attribute__((aligned(16))) int a[4]; }",
         {"__attribute__((aligned(16))) int a[4]; };"}},
        {"void f() { __shared__ struct { int x, y; } a; }", {"struct { int x , y ; } a; };"}},
        {"void f() { extern __shared__ int a[]; }",
         {"typedef int plain_type_0_;", "plain_type_0_ *a = "}},
        {"void f() { extern __shared__ T a[][33]; }", {"typedef T plain_type_0_[33];"}},
        {"extern __shared__ int a[]; void f() {}", {"plain_dynamic_array<plain_type_0_> a;"}},
        {"struct s { void f() { __shared__ int a; } };", {"auto &a = "}},
        {"namespace n { template <class T> void f() { __shared__ T a; } }", {"{ T a; };"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *parts[5] = {NULL};
        memcpy(parts, cases[i].parts, sizeof cases[i].parts);
        becomes(cases[i].text, parts);
    }
}

static void launches_by_pointers(void **state)
{
    (void)state;
    becomes("cudaLaunchKernel((const void *)k<T>, g, b, a);",
            (const char *[]){"cudaLaunchKernel(k<T>, g", NULL});
    becomes("cudaLaunchCooperativeKernel(reinterpret_cast<void *>(k), g, b, a);",
            (const char *[]){"cudaLaunchCooperativeKernel((k), g", NULL});
    becomes("cudaLaunchKernel(k, g, b, a);", (const char *[]){"cudaLaunchKernel(k, g", NULL});
    becomes("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));",
            (const char *[]){"(x) = ::plain_thread_rank() % 32;", NULL});
}

/* The text after the first `part` of the translation. */
static void line_after(const char *text, const char *part, const char *marker)
{
    struct untranslatable why;
    char *translated = translate(text, &why);
    assert_non_null(translated);
    const char *found = strstr(translated, part);
    assert_non_null(found);
    if (strncmp(found + strlen(part), marker, strlen(marker)) != 0)
        fail_msg("%s, where %s was expected", found + strlen(part), marker);
    free(translated);
}

static void refused(const char *text, const char *file, int line, const char *what)
{
    struct untranslatable why;
    assert_null(translate(text, &why));
    assert_string_equal(why.file, file);
    assert_int_equal(why.line, line);
    assert_non_null(strstr(why.what, what));
}

static void kernels_are_global(void **state)
{
    (void)state;
    static const char *const right[] = {
        "__global__ void k(int); void f() { k<<<1, 2>>>(x); }",
        "template <class T> static __global__ void k(T) {} void f() { k<int><<<1, 2>>>(x); }",
        "void k(double); __global__ void k(int) {} void f() { k<<<1, 2>>>(x); }",
        "template <void (*k)(int)> void f() { k<<<1, 2>>>(x); }",
        "namespace n { __global__ void k(int); } void k() { n::k<<<1, 2>>>(x); }",
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        becomes(right[i], (const char *[]){"::plain_launch(", NULL});
    static const char *const wrong[] = {
        "# 1 \"a.cu\"\nvoid k(int) {}\nvoid f() { k<<<1, 2>>>(x); }",
        "# 1 \"a.cu\"\n__global__ void a(); void k(int);\nvoid f() { k<<<1, 2>>>(x); }",
        "# 1 \"a.cu\"\n__global__ void a() {} template <class T> void k(T)\n{ k<T><<<1, 2>>>(x); }",
        "# 1 \"a.cu\"\nnamespace n { void k(int); }\nvoid f() { n::k<<<1, 2>>>(x); }",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(wrong[i], "a.cu", 2, "k is launched, but not declared __global__");
    becomes("extern \"C\" __global__ void k() {}",
            (const char *[]){"extern \"C\"  void k() {}", NULL});
}

static void lines_keep_their_numbers(void **state)
{
    (void)state;
    line_after("# 7 \"a b.cu\"\nk<<<1,\n2>>>(x);\n", "k(arguments_...); })",
               "\n# 8 \"a b.cu\"\n(x);\n");
    line_after("# 7 \"a.cu\"\nk<<<1, 2>>>(x);\n", "k(arguments_...); })", "(x);\n");
    line_after("# 1 \"a.cu\"\nvoid f()\n{\n__shared__ int a[2];\n}\n", "\"a.cu\", 3}", ";");
}

static void what_cannot_be_emulated_is_refused(void **state)
{
    (void)state;
    refused("# 1 \"a.cu\"\n\nvoid f() { asm(\"bar.sync 0;\"); }", "a.cu", 2, "PTX");
    refused("# 5 \"a.cu\"\nvoid f() { cub::Sum(); }", "a.cu", 5, "CUB");
    refused("# 5 \"a.cu\"\nvoid f() { thrust::sort(a, b); }", "a.cu", 5, "Thrust");
    refused("# 5 \"a.cu\"\ntexture<int> t;", "a.cu", 5, "texture");
    refused("# 5 \"a.cu\"\n__shared__ int a;", "a.cu", 5, "__shared__");
    refused("# 5 \"a.cu\"\nvoid f() { k<<<1, 2; }", "a.cu", 5, "<<<");
    refused("# 5 \"a.cu\"\n]<<<1, 2>>>();", "a.cu", 5, "<<<");
    refused("# 5 \"a.cu\"\n]__shared__ int x;", "a.cu", 5, "__shared__");
    stays("bool f(int texture, int surface) { return texture < 5 || surface < texture; }");
    stays("int f(int cub) { return cub ? cub : 1; }");
    stays("# 1 \"/usr/include/x.h\" 1 3\nvoid f() { asm(\"bar.sync 0;\"); }");
    stays("# 1 \"/emulator/headers/x.h\"\nvoid f() { asm(\"bar.sync 0;\"); }");
}

/* Whatever it gets, it ends, and reads nothing past the end. */
static void torn_texts_do_no_harm(void **state)
{
    (void)state;
    static const char whole[] =
        "# 1 \"a.cu\" 1 3\n# 2 \"b.cu\"\ntemplate <class T> void f(T x)\n{\n__shared__ T a[2], b;\n"
        "extern __shared__ int c[];\nk<T, (2 > 1)><<<dim3(1, 2),\n3, sizeof(a)>>>(x, \"s\\\"\", "
        "'c');\n"
        "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));\ncudaLaunchKernel((void *)k, "
        "1);\nR\"x(y)x\";\n}\n";
    for (size_t length = 0; length < sizeof whole; length++)
        for (size_t start = 0; start < length; start += 7) {
            struct untranslatable why;
            char *part = malloc(length - start + 1);
            memcpy(part, whole + start, length - start);
            part[length - start] = '\0';
            free(translate_cuda(part, length - start, "/emulator", &why));
            free(part);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_cuda_stays),
        cmocka_unit_test(launches),
        cmocka_unit_test(shared_variables),
        cmocka_unit_test(launches_by_pointers),
        cmocka_unit_test(kernels_are_global),
        cmocka_unit_test(lines_keep_their_numbers),
        cmocka_unit_test(what_cannot_be_emulated_is_refused),
        cmocka_unit_test(torn_texts_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
