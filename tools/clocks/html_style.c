/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The style sheet of the page. Colours are named once for light and once for dark; paper is light.
 */

#include "clocks/html.h"

static const char colours[] =
    ":root{color-scheme:light dark;"
    "--page:#f6f7f8;--sheet:#fff;--ink:#1b1f24;--muted:#59626d;--edge:#d9dee4;--grid:#e7eaee;"
    "--warm:#1f62b5;--cold:#b04a06;--third:#1a7a55;--good:#1a7a3c;--doubt:#946000;--bad:#b4232a;"
    "--ahead:#d9730d;--behind:#2b74cf}\n"
    "@media screen and (prefers-color-scheme:dark){:root{"
    "--page:#101316;--sheet:#181c21;--ink:#e7eaee;--muted:#9aa5b1;--edge:#323a43;--grid:#272e36;"
    "--warm:#6fb1ff;--cold:#ffa35c;--third:#5fd0a0;--good:#5bd080;--doubt:#f0b440;--bad:#ff7b7b;"
    "--ahead:#ff9a3d;--behind:#5aa2ff}}\n";

static const char page[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "main{max-width:1060px;margin:0 auto;padding:24px 20px 48px}\n"
    "h1{font-size:1.7em;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}"
    "h2{font-size:1.25em;line-height:1.3;margin:0 0 8px}"
    "h3{font-size:1em;margin:16px 0 4px}p{margin:0 0 12px;max-width:76ch}\n"
    ".note,.kicker,footer{color:var(--muted);font-size:.9em}"
    ".kicker{margin:0;text-transform:uppercase;letter-spacing:.06em;font-size:.75em;"
    "font-weight:600}\n"
    "section{background:var(--sheet);border:1px solid var(--edge);border-radius:10px;"
    "padding:20px 22px 14px;margin:18px 0}\n"
    ".answer{border-left:6px solid var(--warm)}.answer h2{font-size:1.5em}\n"
    ".trust{--mark:var(--bad)}.trusted{--mark:var(--good)}.doubtful{--mark:var(--doubt)}"
    ".trust{border-left:6px solid var(--mark)}\n"
    ".badge{display:inline-block;border:1.5px solid var(--mark,var(--warm));"
    "color:var(--mark,var(--warm));border-radius:99px;padding:0 .6em;white-space:nowrap}"
    "td .badge{font-size:.8em}\n"
    ".reasons{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:0 28px}\n"
    "ul{list-style:none;margin:0 0 12px;padding:0}li{padding-left:1.5em;text-indent:-1.5em}"
    "li::before{display:inline-block;width:1.5em;text-indent:0;font-weight:700}"
    ".for li::before{content:\"✓\";color:var(--good)}"
    ".against li::before{content:\"!\";color:var(--bad)}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:10px 24px;"
    "margin:6px 0 10px;border-top:1px solid var(--edge);padding-top:12px}"
    "dt{color:var(--muted);font-size:.8em}dd{margin:0;overflow-wrap:anywhere}\n"
    "header p{max-width:none}footer{margin-top:24px}code{font:.95em ui-monospace,\"DejaVu Sans "
    "Mono\",monospace}\n";

static const char tables[] =
    ".scroll{overflow-x:auto;margin-bottom:12px}\n"
    ".scroll:focus-visible{outline:2px solid var(--warm);outline-offset:2px}\n"
    "table{border-collapse:collapse;font-size:.86em;font-variant-numeric:tabular-nums;width:100%}\n"
    "caption{text-align:left;color:var(--muted);padding:4px 0 6px}\n"
    "th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--grid);"
    "white-space:nowrap}\n"
    "thead th{color:var(--muted);font-weight:600;border-bottom:1px solid var(--edge);"
    "white-space:normal;vertical-align:bottom}\n"
    "th:first-child{text-align:left;padding-left:0;position:sticky;left:0;background:var(--sheet)}"
    "tbody th{font-weight:600}"
    "tbody tr:last-child>*{border-bottom:0}.bad{color:var(--bad)}\n";

static const char plots[] =
    "figure{margin:10px 0 14px}svg{display:block;width:100%;height:auto}"
    "figure>.scroll>svg{min-width:640px}\n"
    "svg text{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
    "fill:var(--ink);font-variant-numeric:tabular-nums}\n"
    "svg .strong{font-weight:600}svg .middle{text-anchor:middle}svg .end{text-anchor:end}"
    "svg .tick,svg .axis-title{fill:var(--muted);font-size:11px}\n"
    ".grid{stroke:var(--grid)}.axis{stroke:var(--muted)}.zero{stroke:var(--muted)}\n"
    ".hill,.bar{fill:var(--warm)}.hill{opacity:.4}\n"
    ".warm{stroke:var(--warm);fill:var(--warm)}.cold{stroke:var(--cold);fill:var(--cold)}"
    ".thin{stroke-width:1.3}.thick{stroke-width:3.2}circle.cold,circle.warm{stroke:none}\n"
    "b.warm-text{color:var(--warm)}b.cold-text{color:var(--cold)}"
    "svg .warm-text{fill:var(--warm)}svg .cold-text{fill:var(--cold)}\n"
    ".smalls{display:grid;grid-template-columns:repeat(auto-fill,minmax(270px,1fr));gap:6px 22px;"
    "margin-bottom:14px}.small h3,.small p{margin:0}.small h3{overflow-wrap:anywhere}\n"
    ".ahead{fill:var(--ahead)}.behind{fill:var(--behind)}.same{fill:var(--grid)}"
    "rect.apart{stroke:var(--bad);stroke-width:2}"
    "svg .cell{font-size:12px;font-weight:600}svg .cell-bound{font-size:10px}\n"
    ".c0{stroke:var(--warm)}.c1{stroke:var(--cold)}.c2{stroke:var(--third)}"
    ".growth{fill:none;stroke-width:2.4}.growth.c1{stroke-dasharray:7 4}"
    ".growth.c2{stroke-dasharray:2 4;stroke-linecap:round}\n"
    ".band{stroke:none;opacity:.16}.band.c0,.point.c0{fill:var(--warm)}"
    ".band.c1,.point.c1{fill:var(--cold)}.band.c2,.point.c2{fill:var(--third)}\n"
    "svg .n0{fill:var(--warm)}svg .n1{fill:var(--cold)}svg .n2{fill:var(--third)}\n";

static const char paper[] =
    "@media(max-width:560px){main{padding:14px 10px 32px}section{padding:14px 12px 8px}"
    "table{font-size:.78em}th,td{padding:4px 6px}}\n"
    "@media print{:root{color-scheme:light}body{background:#fff;font-size:10pt}"
    "main{max-width:none;padding:0}section{border:0;border-radius:0;padding:0;margin:0 0 14pt}"
    ".answer,.trust{border-left:3pt solid;padding-left:8pt}"
    "figure,.small,tr,h2,h3{break-inside:avoid}h2,h3,caption{break-after:avoid}"
    ".scroll{overflow:visible}figure>.scroll>svg{min-width:0}table{font-size:7.5pt}"
    "th,td{padding:2pt 4pt}"
    "svg *,.badge,li::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".smalls{grid-template-columns:repeat(3,1fr)}}\n";

void etwas_page_style(struct etwas_output *output)
{
    etwas_output_text(output, "<style>\n");
    etwas_output_text(output, colours);
    etwas_output_text(output, page);
    etwas_output_text(output, tables);
    etwas_output_text(output, plots);
    etwas_output_text(output, paper);
    etwas_output_text(output, "</style>\n");
}
