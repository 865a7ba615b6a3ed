/** The page's own style, over the colours of the pictures (`--ground`, `--ink`, `--series-0`, ...). */
export const pageStyle: string = `
:root{--line:#c9c9c9;--soft:#f3f3f3;--warn:#fff4d6;--quiet:#5c5c5c;--good:#15702f;--bad:#b3261e}
@media screen and (prefers-color-scheme:dark){:root{--line:#4a4a4a;--soft:#242424;--warn:#3a2f10;--quiet:#a8a8a8;--good:#5fd37f;--bad:#ff8a80}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1400px;margin:0 auto;padding:16px}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
h1,h2,h3,p,li{overflow-wrap:anywhere}
td{overflow-wrap:break-word}
p,ul{max-width:75ch}
ul{padding-left:1.3rem}
a{color:var(--series-0)}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;max-width:none;padding:0;list-style:none}
nav a{display:inline-block;padding:4px 0}
.warnings{background:var(--warn);border-left:4px solid var(--series-4);padding:2px 12px;margin:1rem 0;max-width:80ch}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:20px;align-items:start;margin:1rem 0}
figure{margin:0;max-width:520px}
figure svg{width:100%;overflow:visible}
figure [tabindex]:focus{outline:none}
figure [tabindex]:focus-visible,figure .shown{stroke:var(--ink);stroke-width:2.5px}
.wide{position:relative;overflow-x:auto;margin:1rem 0;max-width:100%}
:focus-visible{outline:2px solid var(--series-0);outline-offset:2px}
table{border-collapse:collapse;font-size:.875rem;line-height:1.4}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:4px 10px;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{background:var(--soft);white-space:nowrap}
td{min-width:7ch;max-width:44ch}
.figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.quiet{color:var(--quiet)}
td.good{color:var(--good)}
td.bad{color:var(--bad);font-weight:600}
pre{margin:0;padding:10px;background:var(--soft);font:.8125rem/1.45 ui-monospace,monospace;width:max-content;min-width:100%}
#value{position:fixed;z-index:1;left:0;top:0;max-width:min(320px,calc(100vw - 16px));padding:6px 9px;border-radius:4px;background:var(--ink);color:var(--ground);font-size:.8125rem;line-height:1.35;pointer-events:none;overflow-wrap:anywhere}
#value[hidden]{display:none}
@page{margin:12mm}
@media print{
body{font-size:10pt}
main{max-width:none;padding:0}
nav,#value{display:none}
h2,h3{break-after:avoid}
figure,tr,.warnings{break-inside:avoid}
.pictures{grid-template-columns:1fr 1fr;gap:12px}
.wide{overflow:visible}
table{font-size:7.5pt}
th,td{padding:2px 5px;white-space:normal}
pre{font-size:6.5pt;width:auto;white-space:pre-wrap;overflow-wrap:anywhere}
thead{display:table-header-group}
}
`;
