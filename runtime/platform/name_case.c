/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/name_case.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

static locale_t case_locale;

static void open_case_locale(void)
{
    case_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Whether the locale has tables; without them only ASCII has two cases. */
static bool has_tables(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, open_case_locale);
    return case_locale != (locale_t)0;
}

etwas_wchar etwas_name_fold(etwas_wchar unit)
{
    if (has_tables()) {
        return (etwas_wchar)towlower_l(unit, case_locale);
    }
    return unit >= u'A' && unit <= u'Z' ? (etwas_wchar)(unit - u'A' + u'a') : unit;
}

etwas_wchar etwas_name_upper(etwas_wchar unit)
{
    if (has_tables()) {
        return (etwas_wchar)towupper_l(unit, case_locale);
    }
    return unit >= u'a' && unit <= u'z' ? (etwas_wchar)(unit - u'a' + u'A') : unit;
}

bool etwas_names_equal(const etwas_wchar *left, const etwas_wchar *right)
{
    size_t index = 0;

    while (left[index] != 0 && etwas_name_fold(left[index]) == etwas_name_fold(right[index])) {
        index++;
    }
    return etwas_name_fold(left[index]) == etwas_name_fold(right[index]);
}
