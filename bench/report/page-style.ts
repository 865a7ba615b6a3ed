/** The page's own style, over the colours of the pictures (`--ground`, `--ink`, `--series-0`, ...). */
export const pageStyle: string = `
:root{--line:#d9d9d9;--soft:#f5f6f7;--warn:#fff6dd;--quiet:#5a5e64;--good:#15702f;--bad:#b3261e;--shade:rgb(0 0 0/.18)}
@media screen and (prefers-color-scheme:dark){:root{--line:#35383d;--soft:#202226;--warn:#2b2617;--quiet:#9a9ea5;--good:#6fbf85;--bad:#e58b82;--shade:rgb(0 0 0/.6)}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:12px}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1440px;margin:0 auto;padding:24px clamp(16px,2.4vw,36px) 48px}
h1{font-size:clamp(1.5rem,1.1rem + 1.4vw,2rem);line-height:1.2;margin:0 0 .6rem;max-width:45em}
h2{font-size:1.25rem;line-height:1.3;margin:2.6rem 0 .6rem;padding-top:1.4rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:0 0 .4rem}
h1,h2,h3,p,li{overflow-wrap:anywhere}
td{overflow-wrap:break-word}
p,ul{max-width:70ch;margin:0 0 .7rem}
ul{padding-left:1.2rem}
a{color:var(--series-0)}
.quiet{color:var(--quiet)}
h1+.quiet{max-width:110ch}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;max-width:none;padding:0;list-style:none}
nav a{display:inline-block;padding:4px 0}
nav .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(clamp(150px,20vw,230px),1fr));gap:12px;margin:1.4rem 0 0}
.tile{display:flex;flex-direction:column;height:100%;padding:12px 16px;border:1px solid var(--line);border-radius:8px;background:var(--soft);color:var(--quiet);text-decoration:none;font-size:.9rem;line-height:1.4}
.tile:hover{border-color:var(--series-0)}
.tile strong{color:var(--ink);font-size:2rem;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}
.tile.good strong{color:var(--good)}
.tile.bad strong{color:var(--bad)}
.warnings{background:var(--warn);border-left:3px solid var(--series-4);border-radius:0 6px 6px 0;padding:8px 14px;margin:1rem 0;max-width:110ch;font-size:.9rem}
.warnings ul{margin:0;max-width:none}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:20px 32px;align-items:start;margin:.4rem 0 1.2rem}
@media screen and (max-width:1299px) and (min-width:900px){.pictures>div{grid-column:1/-1}}
figure{margin:0;max-width:500px}
figure svg{display:block;width:100%;overflow:visible}
figure [tabindex]:focus{outline:none}
figure [tabindex]:focus-visible,figure .shown{stroke:var(--ink);stroke-width:2.5px}
details{border-top:1px solid var(--line)}
details+:not(details){margin-top:1rem}
h2+details{border-top:0}
summary{padding:9px 0;cursor:pointer;color:var(--quiet)}
summary:hover,details[open]>summary{color:var(--ink)}
.wide{position:relative;overflow-x:auto;margin:.2rem 0 1rem;max-width:100%;scrollbar-width:thin;
background:linear-gradient(to right,var(--ground) 30%,transparent) 0 0/40px 100% local no-repeat,linear-gradient(to left,var(--ground) 30%,transparent) 100% 0/40px 100% local no-repeat,linear-gradient(to right,var(--shade),transparent) 0 0/14px 100% scroll no-repeat,linear-gradient(to left,var(--shade),transparent) 100% 0/14px 100% scroll no-repeat}
.hint{margin:.2rem 0;font-size:.8125rem;color:var(--quiet)}
.hint[hidden]{display:none}
:focus-visible{outline:2px solid var(--series-0);outline-offset:2px}
table{width:max-content;border-collapse:collapse;font-size:.875rem;line-height:1.4}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{color:var(--quiet);font-weight:600;white-space:nowrap}
td{min-width:7ch;max-width:min(48ch,76vw)}
.figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.quiet{color:var(--quiet)}
td.good{color:var(--good)}
td.bad{color:var(--bad);font-weight:600}
pre{margin:0;padding:10px 0;font:.8125rem/1.45 ui-monospace,monospace;width:max-content;min-width:100%}
pre.wraps{width:auto;padding:10px 14px;border-radius:6px;background:var(--soft);white-space:pre-wrap;overflow-wrap:anywhere}
#value{position:fixed;z-index:1;left:0;top:0;max-width:min(320px,calc(100vw - 16px));padding:6px 9px;border-radius:4px;background:var(--ink);color:var(--ground);font-size:.8125rem;line-height:1.35;pointer-events:none;overflow-wrap:anywhere}
#value[hidden]{display:none}
@page{margin:12mm}
@media print{
body{font-size:10pt}
main{max-width:none;padding:0}
nav,#value,.hint{display:none}
details::details-content{content-visibility:visible;block-size:auto}
h2,h3,summary{break-after:avoid}
figure,tr,.warnings{break-inside:avoid}
.pictures{grid-template-columns:1fr 1fr;gap:12px}
.pictures>div{grid-column:1/-1}
.wide{overflow:visible;background:none}
table{width:auto;font-size:7.5pt}
th,td{padding:2px 8px 2px 0;min-width:0;white-space:normal}
.figure{white-space:normal}
pre{font-size:6.5pt;width:auto;white-space:pre-wrap;overflow-wrap:anywhere}
thead{display:table-header-group}
}
`;
