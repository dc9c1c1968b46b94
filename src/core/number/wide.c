/* SPDX-License-Identifier: MIT */
#include "core/number/wide.h"

#include <math.h>
#include <string.h>

/* Sets `product` to the 256 bits of a * b, lowest word first. */
static void multiply(uint128 a, uint128 b, uint64_t product[4])
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    uint128 low = (uint128)a0 * b0, high = (uint128)a1 * b1;
    uint128 one = (uint128)a0 * b1, other = (uint128)a1 * b0;

    uint128 second = (low >> 64) + (uint64_t)one + (uint64_t)other;
    high += (second >> 64) + (one >> 64) + (other >> 64);
    product[0] = (uint64_t)low;
    product[1] = (uint64_t)second;
    product[2] = (uint64_t)high;
    product[3] = (uint64_t)(high >> 64);
}

/* Returns a + b + *carry and sets *carry to the new carry. */
static uint64_t add_with_carry(uint64_t a, uint64_t b, uint64_t *carry)
{
    uint128 sum = (uint128)a + b + *carry;
    *carry = (uint64_t)(sum >> 64);
    return (uint64_t)sum;
}

static uint128 wide_half(const struct wide *wide, unsigned half)
{
    return (uint128)wide->word[2 * half + 1] << 64 | wide->word[2 * half];
}

bool wide_add(struct wide *sum, const struct wide *more)
{
    uint128 low = wide_half(sum, 0) + wide_half(more, 0), carry = low < wide_half(more, 0);
    uint128 high = wide_half(sum, 1) + wide_half(more, 1) + carry;
    /* If both numbers have the same sign and the sum has the other sign, the sum did not fit. */
    uint64_t top = (uint64_t)(high >> 64);
    if (((sum->word[3] ^ top) & (more->word[3] ^ top)) >> 63)
        return false;
    *sum = (struct wide){ { (uint64_t)low, (uint64_t)(low >> 64), (uint64_t)high, top } };
    return true;
}

static struct wide negated(const struct wide *wide)
{
    struct wide result;
    uint64_t carry = 1;
    for (int i = 0; i < 4; i++)
        result.word[i] = add_with_carry(~wide->word[i], 0, &carry);
    return result;
}

bool wide_subtract(struct wide *sum, const struct wide *less)
{
    /* Do not negate `less` and add it: the least number cannot be negated. */
    struct wide result;
    uint64_t carry = 1;
    for (int i = 0; i < 4; i++)
        result.word[i] = add_with_carry(sum->word[i], ~less->word[i], &carry);
    uint64_t overflow = (sum->word[3] ^ less->word[3]) & (sum->word[3] ^ result.word[3]);
    if (overflow >> 63)
        return false;
    *sum = result;
    return true;
}

bool wide_add_product(struct wide *sum, uint128 charge, uint128 weight, bool negative)
{
    struct wide product;
    multiply(charge, weight, product.word);
    if (negative)
        product = negated(&product);
    return wide_add(sum, &product);
}

uint128 wide_high_product(uint128 a, uint128 b)
{
    uint64_t product[4];
    multiply(a, b, product);
    return (uint128)product[3] << 64 | product[2];
}

struct wide wide_shifted_down(const struct wide *wide, unsigned bits)
{
    uint64_t fill = wide_is_negative(wide) ? UINT64_MAX : 0;
    struct wide shifted;
    for (unsigned i = 0; i < 4; i++) {
        unsigned from = i + bits / 64, rest = bits % 64;
        uint64_t low = from < 4 ? wide->word[from] : fill;
        uint64_t high = from < 3 ? wide->word[from + 1] : fill;
        shifted.word[i] = rest ? low >> rest | high << (64 - rest) : low;
    }
    return shifted;
}

bool wide_is_negative(const struct wide *wide)
{
    return wide->word[3] >> 63;
}

/* In two's complement, a product that fits is correct if it is computed modulo 2^256. */
struct wide wide_times(const struct wide *wide, uint64_t times)
{
    struct wide product;
    uint128 part = 0;
    for (unsigned i = 0; i < 4; i++) {
        part = (uint128)wide->word[i] * times + (part >> 64);
        product.word[i] = (uint64_t)part;
    }
    return product;
}

bool wide_is_zero(const struct wide *wide)
{
    return !(wide->word[0] | wide->word[1] | wide->word[2] | wide->word[3]);
}

bool wide_is_equal(const struct wide *a, const struct wide *b)
{
    return !memcmp(a->word, b->word, sizeof a->word);
}

static void trim(struct natural *number)
{
    while (number->length && !number->word[number->length - 1])
        number->length--;
}

struct natural natural_of(uint128 number)
{
    uint64_t low = (uint64_t)number, high = (uint64_t)(number >> 64);
    return (struct natural){ .length = high ? 2 : low != 0, .word = { low, high } };
}

uint128 natural_low(const struct natural *number)
{
    uint128 high = number->length > 1 ? number->word[1] : 0;
    return high << 64 | (number->length ? number->word[0] : 0);
}

struct wide wide_of_natural(const struct natural *number)
{
    struct wide wide = { { 0 } };
    memcpy(wide.word, number->word, number->length * sizeof *wide.word);
    return wide;
}

struct natural natural_product(const struct natural *a, const struct natural *b)
{
    struct natural product;
    product.length = a->length + b->length;
    memset(product.word, 0, product.length * sizeof *product.word);
    for (unsigned i = 0; i < a->length; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < b->length; j++) {
            uint128 part = (uint128)a->word[i] * b->word[j] + product.word[i + j] + carry;
            product.word[i + j] = (uint64_t)part;
            carry = (uint64_t)(part >> 64);
        }
        product.word[i + b->length] = carry;
    }
    trim(&product);
    return product;
}

struct natural natural_shifted(const struct natural *number, unsigned bits)
{
    unsigned words = bits / 64, rest = bits % 64;
    struct natural shifted;
    shifted.length = number->length ? number->length + words + 1 : 0;
    memset(shifted.word, 0, shifted.length * sizeof *shifted.word);
    for (unsigned i = 0; i < number->length; i++) {
        shifted.word[i + words] |= number->word[i] << rest;
        if (rest)
            shifted.word[i + words + 1] = number->word[i] >> (64 - rest);
    }
    trim(&shifted);
    return shifted;
}

void natural_divide(struct natural *number, uint64_t divisor)
{
    uint128 rest = 0;
    for (unsigned i = number->length; i-- > 0;) {
        rest = rest << 64 | number->word[i];
        number->word[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    trim(number);
}

struct natural natural_difference(const struct natural *a, const struct natural *b)
{
    struct natural difference = { .length = a->length };
    uint64_t borrow = 0;
    for (unsigned i = 0; i < a->length; i++) {
        uint64_t less = i < b->length ? b->word[i] : 0;
        uint128 part = (uint128)a->word[i] - less - borrow;
        difference.word[i] = (uint64_t)part;
        borrow = (uint64_t)(part >> 64) & 1;
    }
    trim(&difference);
    return difference;
}

unsigned natural_bits(const struct natural *number)
{
    if (!number->length)
        return 0;
    unsigned last = number->length - 1;
    return last * 64 + 64 - (unsigned)__builtin_clzll(number->word[last]);
}

int natural_compare(const struct natural *a, const struct natural *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    for (unsigned i = a->length; i-- > 0;)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* Returns the highest 64 bits `top` of a number other than 0.  The number is at least top *
 * 2^*exponent and less than (top + 1) * 2^*exponent. */
static uint64_t top_word(const struct natural *number, int *exponent)
{
    unsigned last = number->length - 1;
    int shift = __builtin_clzll(number->word[last]);
    uint64_t top = number->word[last] << shift;
    if (shift && last)
        top |= number->word[last - 1] >> (64 - shift);
    *exponent = (int)last * 64 - shift;
    return top;
}

/* Compares a quotient with the middle between two doubles: compares 2 * numerator * 2^-exponent
 * with (2 * floor + 1) * denominator. */
static int against_middle(const struct natural *numerator, const struct natural *denominator,
                          uint64_t floor, int exponent)
{
    struct natural middle = natural_times(denominator, 2 * floor + 1);
    int shift = 1 - exponent;
    if (shift >= 0) {
        struct natural shifted = natural_shifted(numerator, (unsigned)shift);
        return natural_compare(&shifted, &middle);
    }
    struct natural shifted = natural_shifted(&middle, (unsigned)-shift);
    return natural_compare(numerator, &shifted);
}

/* Returns number * 2^exponent for a number of at most 54 bits.  ldexp() is slow because it handles
 * cases that cannot occur here, unless the power itself is out of a double's range. */
static double scaled(uint64_t number, int exponent)
{
    if (exponent < -1022 || exponent > 1023)
        return ldexp((double)number, exponent);
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return (double)number * power;
}

double natural_quotient(const struct natural *numerator, const struct natural *denominator)
{
    if (!numerator->length)
        return 0;
    int above, below;
    uint64_t a = top_word(numerator, &above), b = top_word(denominator, &below);
    /* a / b is between 1/2 and 2: scale the quotient to 64 or 63 bits. */
    int scale = a >= b ? 63 : 64;
    uint64_t quotient = (uint64_t)(((uint128)a << scale) / b);
    int exponent = above - below - scale + 11;

    /* Both words were truncated by less than one part in 2^63, so the quotient is wrong by less
     * than four.  This is accurate enough unless the quotient is that close to the middle between
     * two doubles. */
    uint64_t floor = quotient >> 11, rest = quotient & 0x7ff;
    bool up = rest > 0x400;
    if (rest >= 0x400 - 8 && rest <= 0x400 + 8) {
        int side = against_middle(numerator, denominator, floor, exponent);
        up = side > 0 || (side == 0 && (floor & 1));
    }
    return scaled(floor + up, exponent);
}

double wide_quotient(const struct wide *part, const struct wide *whole)
{
    if (wide_is_zero(part) || wide_is_zero(whole))
        return 0;
    struct natural numerator = natural_of_wide(part), denominator = natural_of_wide(whole);
    return natural_quotient(&numerator, &denominator);
}

struct floating natural_top(const struct natural *number)
{
    if (!number->length)
        return (struct floating){ 0, 0 };
    unsigned last = number->length - 1;
    int shift = __builtin_clzll(number->word[last]);
    uint64_t word[3] = { number->word[last], last > 0 ? number->word[last - 1] : 0,
                         last > 1 ? number->word[last - 2] : 0 };
    uint128 top = (uint128)word[0] << 64 | word[1];
    if (shift)
        top = top << shift | word[2] >> (64 - shift);
    return (struct floating){ top, (int)last * 64 - 64 - shift };
}

struct floating floating_product(struct floating a, struct floating b)
{
    if (!a.mantissa || !b.mantissa)
        return (struct floating){ 0, 0 };
    uint64_t product[4];
    multiply(a.mantissa, b.mantissa, product);
    uint128 high = (uint128)product[3] << 64 | product[2];
    int exponent = a.exponent + b.exponent + 128;
    if (!(high >> 127)) {
        high = high << 1 | product[1] >> 63;
        exponent--;
    }
    return (struct floating){ high, exponent };
}

double floating_to_double(struct floating number)
{
    uint64_t floor = (uint64_t)(number.mantissa >> 75);
    uint128 rest = number.mantissa & (((uint128)1 << 75) - 1);
    uint128 middle = (uint128)1 << 74;
    bool up = rest > middle || (rest == middle && (floor & 1));
    return scaled(floor + up, number.exponent + 75);
}

struct natural natural_of_floating(struct floating number)
{
    uint128 mantissa = number.mantissa;
    if (number.exponent < 0)
        mantissa = number.exponent <= -128 ? 0 : mantissa >> -number.exponent;
    struct natural result = { .length = 2,
                              .word = { (uint64_t)mantissa, (uint64_t)(mantissa >> 64) } };
    trim(&result);
    return number.exponent > 0 ? natural_shifted(&result, (unsigned)number.exponent) : result;
}
