/* completions.h: what shells read to complete flags and their values. */
#pragma once

#include <stdio.h>

void print_bash(FILE *out);
void print_zsh(FILE *out);
void print_fish(FILE *out);
