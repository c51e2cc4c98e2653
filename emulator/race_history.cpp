/* race_history.cpp: the histories of words, in pages that are made when a word of them is accessed,
 * and kept from one launch to the next. */
#include "race_history.h"

#include "races.h"
#include "scheduler.h"

#include <algorithm>
#include <memory>
#include <string.h>
#include <unordered_map>

inline namespace emulator_cuda
{

enum {
    LOG2_PAGE_WORDS = 10,
    PAGE_WORDS = 1 << LOG2_PAGE_WORDS,
    MOST_PAGES_KEPT = 4096, /* from one launch to the next: 256 MiB */
    RECENT_PAGES = 64,
};

struct history_page {
    uint64_t launch; /* for which it holds */
    word_history words[PAGE_WORDS];
};

/* By the address of the first word, in pages. */
static std::unordered_map<uintptr_t, std::unique_ptr<history_page>> pages;
static struct {
    uintptr_t number;
    history_page *page;
} recent_pages[RECENT_PAGES];

static history_page *page_of(uintptr_t number)
{
    auto &recent = recent_pages[number % RECENT_PAGES];
    if (recent.page && recent.number == number)
        return recent.page;
    std::unique_ptr<history_page> &page = pages[number];
    if (!page || page->launch != current_launch.number) {
        if (!page)
            page = std::make_unique_for_overwrite<history_page>();
        memset((void *)page.get(), 0, sizeof *page);
        page->launch = current_launch.number;
    }
    recent = {number, page.get()};
    return page.get();
}

word_history *history_of(uintptr_t address)
{
    const uintptr_t word = address / WORD_BYTES;
    return &page_of(word >> LOG2_PAGE_WORDS)->words[word % PAGE_WORDS];
}

void forget_pages(void)
{
    memset(recent_pages, 0, sizeof recent_pages);
    if (pages.size() > MOST_PAGES_KEPT)
        pages.clear();
}

void forget_words(const char *start, size_t bytes)
{
    if (!start)
        return;
    const uintptr_t first = (uintptr_t)start / WORD_BYTES;
    const uintptr_t end = ((uintptr_t)start + bytes + WORD_BYTES - 1) / WORD_BYTES;
    for (uintptr_t word = first; word < end;) {
        const uintptr_t next = std::min(end, (word / PAGE_WORDS + 1) * PAGE_WORDS);
        const auto page = pages.find(word >> LOG2_PAGE_WORDS);
        if (page != pages.end())
            memset((void *)&page->second->words[word % PAGE_WORDS], 0,
                   (next - word) * sizeof(word_history));
        word = next;
    }
}

} // namespace emulator_cuda
