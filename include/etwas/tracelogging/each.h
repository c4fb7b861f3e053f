/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_EACH_H
#define ETWAS_TRACELOGGING_EACH_H

/*
 * Counting the arguments of a macro, and applying a macro to each of them. This header is a part of
 * <etwas/TraceLoggingProvider.h>; programs do not use it directly.
 *
 * C requires at least one argument for the dots of a macro. Therefore no list here is empty: a list
 * begins with an argument that is ignored, which is an event's or a provider's name.
 */

#define ETWAS_TRACELOGGING_JOIN_NOW(left, right) left##right
#define ETWAS_TRACELOGGING_JOIN(left, right) ETWAS_TRACELOGGING_JOIN_NOW(left, right)

#define ETWAS_TRACELOGGING_FIRST_NOW(first, ...) first
#define ETWAS_TRACELOGGING_FIRST(...) ETWAS_TRACELOGGING_FIRST_NOW(__VA_ARGS__, ~)
#define ETWAS_TRACELOGGING_SECOND_NOW(first, second, ...) second
#define ETWAS_TRACELOGGING_SECOND(...) ETWAS_TRACELOGGING_SECOND_NOW(__VA_ARGS__)

/* The contents of the parentheses that follow. */
#define ETWAS_TRACELOGGING_OPEN(...) __VA_ARGS__

/* The number of arguments: 1 to 100. */
#define ETWAS_TRACELOGGING_COUNT(...)                                                              \
    ETWAS_TRACELOGGING_COUNT_NOW(                                                                  \
        __VA_ARGS__, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, 84, 83, 82,  \
        81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60,    \
        59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38,    \
        37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,    \
        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, ~)
#define ETWAS_TRACELOGGING_COUNT_NOW(                                                              \
    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,     \
    a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, \
    a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, \
    a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, \
    a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, \
    a97, a98, a99, a100, count, ...)                                                               \
    count

/* PAIR adds two parts before a list in parentheses, and none before an empty argument. */
#define ETWAS_TRACELOGGING_PAIR(...) ~, ~
#define ETWAS_TRACELOGGING_LAST(...) ETWAS_TRACELOGGING_LAST_NOW(__VA_ARGS__)
#define ETWAS_TRACELOGGING_LAST_NOW(a, b, kind, ...) ETWAS_TRACELOGGING_LAST##kind
#define ETWAS_TRACELOGGING_LAST_list(macro, a) macro(1, a)
#define ETWAS_TRACELOGGING_LAST_nothing(macro, a)                                                  \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PAIR a(), _empty, _bare, ~)(macro, a)
#define ETWAS_TRACELOGGING_LAST_empty(macro, a)
#define ETWAS_TRACELOGGING_LAST_bare(macro, a) macro(1, a)

/*
 * EACH(macro, first, a, b, ...) is macro(N, a) macro(N - 1, b) ... macro(1, z): one call for each
 * argument except the first, with its number. There are at most 99. All are lists in parentheses,
 * except that the last may be empty: a program's macro leaves an empty one after a comma if its own
 * dots are empty. Only BARE accepts anything else.
 */
#define ETWAS_TRACELOGGING_EACH(macro, ...)                                                        \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_FROM_, ETWAS_TRACELOGGING_COUNT(__VA_ARGS__))       \
    (macro, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_1(macro, first)
#define ETWAS_TRACELOGGING_FROM_2(macro, first, a)                                                 \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PAIR a, _list, _nothing, ~)(macro, a)
#define ETWAS_TRACELOGGING_FROM_3(macro, first, a, ...)                                            \
    macro(2, a) ETWAS_TRACELOGGING_FROM_2(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_4(macro, first, a, ...)                                            \
    macro(3, a) ETWAS_TRACELOGGING_FROM_3(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_5(macro, first, a, ...)                                            \
    macro(4, a) ETWAS_TRACELOGGING_FROM_4(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_6(macro, first, a, ...)                                            \
    macro(5, a) ETWAS_TRACELOGGING_FROM_5(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_7(macro, first, a, ...)                                            \
    macro(6, a) ETWAS_TRACELOGGING_FROM_6(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_8(macro, first, a, ...)                                            \
    macro(7, a) ETWAS_TRACELOGGING_FROM_7(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_9(macro, first, a, ...)                                            \
    macro(8, a) ETWAS_TRACELOGGING_FROM_8(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_10(macro, first, a, ...)                                           \
    macro(9, a) ETWAS_TRACELOGGING_FROM_9(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_11(macro, first, a, ...)                                           \
    macro(10, a) ETWAS_TRACELOGGING_FROM_10(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_12(macro, first, a, ...)                                           \
    macro(11, a) ETWAS_TRACELOGGING_FROM_11(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_13(macro, first, a, ...)                                           \
    macro(12, a) ETWAS_TRACELOGGING_FROM_12(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_14(macro, first, a, ...)                                           \
    macro(13, a) ETWAS_TRACELOGGING_FROM_13(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_15(macro, first, a, ...)                                           \
    macro(14, a) ETWAS_TRACELOGGING_FROM_14(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_16(macro, first, a, ...)                                           \
    macro(15, a) ETWAS_TRACELOGGING_FROM_15(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_17(macro, first, a, ...)                                           \
    macro(16, a) ETWAS_TRACELOGGING_FROM_16(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_18(macro, first, a, ...)                                           \
    macro(17, a) ETWAS_TRACELOGGING_FROM_17(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_19(macro, first, a, ...)                                           \
    macro(18, a) ETWAS_TRACELOGGING_FROM_18(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_20(macro, first, a, ...)                                           \
    macro(19, a) ETWAS_TRACELOGGING_FROM_19(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_21(macro, first, a, ...)                                           \
    macro(20, a) ETWAS_TRACELOGGING_FROM_20(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_22(macro, first, a, ...)                                           \
    macro(21, a) ETWAS_TRACELOGGING_FROM_21(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_23(macro, first, a, ...)                                           \
    macro(22, a) ETWAS_TRACELOGGING_FROM_22(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_24(macro, first, a, ...)                                           \
    macro(23, a) ETWAS_TRACELOGGING_FROM_23(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_25(macro, first, a, ...)                                           \
    macro(24, a) ETWAS_TRACELOGGING_FROM_24(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_26(macro, first, a, ...)                                           \
    macro(25, a) ETWAS_TRACELOGGING_FROM_25(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_27(macro, first, a, ...)                                           \
    macro(26, a) ETWAS_TRACELOGGING_FROM_26(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_28(macro, first, a, ...)                                           \
    macro(27, a) ETWAS_TRACELOGGING_FROM_27(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_29(macro, first, a, ...)                                           \
    macro(28, a) ETWAS_TRACELOGGING_FROM_28(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_30(macro, first, a, ...)                                           \
    macro(29, a) ETWAS_TRACELOGGING_FROM_29(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_31(macro, first, a, ...)                                           \
    macro(30, a) ETWAS_TRACELOGGING_FROM_30(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_32(macro, first, a, ...)                                           \
    macro(31, a) ETWAS_TRACELOGGING_FROM_31(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_33(macro, first, a, ...)                                           \
    macro(32, a) ETWAS_TRACELOGGING_FROM_32(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_34(macro, first, a, ...)                                           \
    macro(33, a) ETWAS_TRACELOGGING_FROM_33(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_35(macro, first, a, ...)                                           \
    macro(34, a) ETWAS_TRACELOGGING_FROM_34(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_36(macro, first, a, ...)                                           \
    macro(35, a) ETWAS_TRACELOGGING_FROM_35(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_37(macro, first, a, ...)                                           \
    macro(36, a) ETWAS_TRACELOGGING_FROM_36(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_38(macro, first, a, ...)                                           \
    macro(37, a) ETWAS_TRACELOGGING_FROM_37(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_39(macro, first, a, ...)                                           \
    macro(38, a) ETWAS_TRACELOGGING_FROM_38(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_40(macro, first, a, ...)                                           \
    macro(39, a) ETWAS_TRACELOGGING_FROM_39(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_41(macro, first, a, ...)                                           \
    macro(40, a) ETWAS_TRACELOGGING_FROM_40(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_42(macro, first, a, ...)                                           \
    macro(41, a) ETWAS_TRACELOGGING_FROM_41(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_43(macro, first, a, ...)                                           \
    macro(42, a) ETWAS_TRACELOGGING_FROM_42(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_44(macro, first, a, ...)                                           \
    macro(43, a) ETWAS_TRACELOGGING_FROM_43(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_45(macro, first, a, ...)                                           \
    macro(44, a) ETWAS_TRACELOGGING_FROM_44(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_46(macro, first, a, ...)                                           \
    macro(45, a) ETWAS_TRACELOGGING_FROM_45(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_47(macro, first, a, ...)                                           \
    macro(46, a) ETWAS_TRACELOGGING_FROM_46(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_48(macro, first, a, ...)                                           \
    macro(47, a) ETWAS_TRACELOGGING_FROM_47(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_49(macro, first, a, ...)                                           \
    macro(48, a) ETWAS_TRACELOGGING_FROM_48(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_50(macro, first, a, ...)                                           \
    macro(49, a) ETWAS_TRACELOGGING_FROM_49(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_51(macro, first, a, ...)                                           \
    macro(50, a) ETWAS_TRACELOGGING_FROM_50(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_52(macro, first, a, ...)                                           \
    macro(51, a) ETWAS_TRACELOGGING_FROM_51(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_53(macro, first, a, ...)                                           \
    macro(52, a) ETWAS_TRACELOGGING_FROM_52(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_54(macro, first, a, ...)                                           \
    macro(53, a) ETWAS_TRACELOGGING_FROM_53(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_55(macro, first, a, ...)                                           \
    macro(54, a) ETWAS_TRACELOGGING_FROM_54(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_56(macro, first, a, ...)                                           \
    macro(55, a) ETWAS_TRACELOGGING_FROM_55(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_57(macro, first, a, ...)                                           \
    macro(56, a) ETWAS_TRACELOGGING_FROM_56(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_58(macro, first, a, ...)                                           \
    macro(57, a) ETWAS_TRACELOGGING_FROM_57(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_59(macro, first, a, ...)                                           \
    macro(58, a) ETWAS_TRACELOGGING_FROM_58(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_60(macro, first, a, ...)                                           \
    macro(59, a) ETWAS_TRACELOGGING_FROM_59(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_61(macro, first, a, ...)                                           \
    macro(60, a) ETWAS_TRACELOGGING_FROM_60(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_62(macro, first, a, ...)                                           \
    macro(61, a) ETWAS_TRACELOGGING_FROM_61(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_63(macro, first, a, ...)                                           \
    macro(62, a) ETWAS_TRACELOGGING_FROM_62(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_64(macro, first, a, ...)                                           \
    macro(63, a) ETWAS_TRACELOGGING_FROM_63(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_65(macro, first, a, ...)                                           \
    macro(64, a) ETWAS_TRACELOGGING_FROM_64(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_66(macro, first, a, ...)                                           \
    macro(65, a) ETWAS_TRACELOGGING_FROM_65(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_67(macro, first, a, ...)                                           \
    macro(66, a) ETWAS_TRACELOGGING_FROM_66(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_68(macro, first, a, ...)                                           \
    macro(67, a) ETWAS_TRACELOGGING_FROM_67(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_69(macro, first, a, ...)                                           \
    macro(68, a) ETWAS_TRACELOGGING_FROM_68(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_70(macro, first, a, ...)                                           \
    macro(69, a) ETWAS_TRACELOGGING_FROM_69(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_71(macro, first, a, ...)                                           \
    macro(70, a) ETWAS_TRACELOGGING_FROM_70(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_72(macro, first, a, ...)                                           \
    macro(71, a) ETWAS_TRACELOGGING_FROM_71(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_73(macro, first, a, ...)                                           \
    macro(72, a) ETWAS_TRACELOGGING_FROM_72(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_74(macro, first, a, ...)                                           \
    macro(73, a) ETWAS_TRACELOGGING_FROM_73(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_75(macro, first, a, ...)                                           \
    macro(74, a) ETWAS_TRACELOGGING_FROM_74(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_76(macro, first, a, ...)                                           \
    macro(75, a) ETWAS_TRACELOGGING_FROM_75(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_77(macro, first, a, ...)                                           \
    macro(76, a) ETWAS_TRACELOGGING_FROM_76(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_78(macro, first, a, ...)                                           \
    macro(77, a) ETWAS_TRACELOGGING_FROM_77(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_79(macro, first, a, ...)                                           \
    macro(78, a) ETWAS_TRACELOGGING_FROM_78(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_80(macro, first, a, ...)                                           \
    macro(79, a) ETWAS_TRACELOGGING_FROM_79(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_81(macro, first, a, ...)                                           \
    macro(80, a) ETWAS_TRACELOGGING_FROM_80(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_82(macro, first, a, ...)                                           \
    macro(81, a) ETWAS_TRACELOGGING_FROM_81(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_83(macro, first, a, ...)                                           \
    macro(82, a) ETWAS_TRACELOGGING_FROM_82(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_84(macro, first, a, ...)                                           \
    macro(83, a) ETWAS_TRACELOGGING_FROM_83(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_85(macro, first, a, ...)                                           \
    macro(84, a) ETWAS_TRACELOGGING_FROM_84(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_86(macro, first, a, ...)                                           \
    macro(85, a) ETWAS_TRACELOGGING_FROM_85(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_87(macro, first, a, ...)                                           \
    macro(86, a) ETWAS_TRACELOGGING_FROM_86(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_88(macro, first, a, ...)                                           \
    macro(87, a) ETWAS_TRACELOGGING_FROM_87(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_89(macro, first, a, ...)                                           \
    macro(88, a) ETWAS_TRACELOGGING_FROM_88(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_90(macro, first, a, ...)                                           \
    macro(89, a) ETWAS_TRACELOGGING_FROM_89(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_91(macro, first, a, ...)                                           \
    macro(90, a) ETWAS_TRACELOGGING_FROM_90(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_92(macro, first, a, ...)                                           \
    macro(91, a) ETWAS_TRACELOGGING_FROM_91(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_93(macro, first, a, ...)                                           \
    macro(92, a) ETWAS_TRACELOGGING_FROM_92(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_94(macro, first, a, ...)                                           \
    macro(93, a) ETWAS_TRACELOGGING_FROM_93(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_95(macro, first, a, ...)                                           \
    macro(94, a) ETWAS_TRACELOGGING_FROM_94(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_96(macro, first, a, ...)                                           \
    macro(95, a) ETWAS_TRACELOGGING_FROM_95(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_97(macro, first, a, ...)                                           \
    macro(96, a) ETWAS_TRACELOGGING_FROM_96(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_98(macro, first, a, ...)                                           \
    macro(97, a) ETWAS_TRACELOGGING_FROM_97(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_99(macro, first, a, ...)                                           \
    macro(98, a) ETWAS_TRACELOGGING_FROM_98(macro, first, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FROM_100(macro, first, a, ...)                                          \
    macro(99, a) ETWAS_TRACELOGGING_FROM_99(macro, first, __VA_ARGS__)

/* ---- arguments that are no lists ------------------------------------------------------------- */

/*
 * Is `_bare` if an argument of TraceLoggingWrite was not made by a macro for arguments, as a list
 * of 12 parts in parentheses; otherwise `_lists`. The first argument is ignored. So a program that
 * forgets such a macro gets one sentence in place of the errors that the others would cause.
 */
#define ETWAS_TRACELOGGING_KIND(...)                                                               \
    ETWAS_TRACELOGGING_SECOND(~ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_BARE, __VA_ARGS__),      \
                              _lists, ~)
#define ETWAS_TRACELOGGING_BARE(number, a)                                                         \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PAIR a, _parts, _no_parts, ~)(a)
#define ETWAS_TRACELOGGING_LAST_no_parts(a) , _bare
#define ETWAS_TRACELOGGING_LAST_parts(a) ETWAS_TRACELOGGING_PARTS(ETWAS_TRACELOGGING_COUNT a)
#define ETWAS_TRACELOGGING_PARTS(count) ETWAS_TRACELOGGING_PARTS_NOW(count)
#define ETWAS_TRACELOGGING_PARTS_NOW(count)                                                        \
    ETWAS_TRACELOGGING_LAST(ETWAS_TRACELOGGING_PARTS_##count, _right, _no_parts, ~)(count)
#define ETWAS_TRACELOGGING_PARTS_12 ~, ~
#define ETWAS_TRACELOGGING_LAST_right(count)

#endif
