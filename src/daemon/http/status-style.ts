/** The style sheet of the status page, for light and dark, wide and narrow. */
export const statusPageStyle = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1f24;--soft:#5b6470;--line:#dde1e6;
--good:#116329;--good-back:#dafbe1;--busy:#0a53a8;--busy-back:#ddf0ff;--warn:#7d4e00;--warn-back:#fff3c9;
--bad:#a40e26;--bad-back:#ffe4e6;--quiet:#4a525c;--quiet-back:#e9ecef}
@media (prefers-color-scheme:dark){:root{--page:#0e1116;--card:#171b22;--text:#e6eaf0;--soft:#9aa4b1;--line:#2c333d;
--good:#6fdd8b;--good-back:#12301c;--busy:#79b8ff;--busy-back:#10294a;--warn:#f0c050;--warn-back:#352a08;
--bad:#ff8f9a;--bad-back:#421a20;--quiet:#b4bdc8;--quiet-back:#262c35}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
header,main{max-width:72rem;margin:0 auto;padding:0 1.25rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem;padding-top:1.25rem}
header p{margin:0;color:var(--soft)}
h1{font-size:1.35rem;margin:0}
h2{font-size:1.15rem;margin:0 0 .75rem;display:flex;flex-wrap:wrap;align-items:center;gap:.5rem}
h3{font-size:.95rem;margin:1.25rem 0 .4rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1.1rem 1.25rem;margin:1rem 0}
.badge{display:inline-block;font-size:.8rem;font-weight:600;line-height:1.3;padding:.12rem .55rem;border-radius:1rem;white-space:nowrap}
.good{color:var(--good);background:var(--good-back)}
.busy{color:var(--busy);background:var(--busy-back)}
.warn{color:var(--warn);background:var(--warn-back)}
.bad{color:var(--bad);background:var(--bad-back)}
.quiet{color:var(--quiet);background:var(--quiet-back)}
.callout{border-radius:.4rem;padding:.55rem .8rem;margin:.75rem 0;border-left:.25rem solid currentColor}
.callout ul{margin:.2rem 0 0;padding:0;list-style:none;color:var(--text)}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.6rem 1.5rem;margin:.75rem 0}
dt{font-size:.8rem;color:var(--soft)}
dd{margin:0}
code{font:.92em ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.age{color:var(--soft);white-space:nowrap}
time{white-space:nowrap}
table{width:100%;border-collapse:collapse;table-layout:fixed}
th{text-align:left;font-size:.8rem;font-weight:600;color:var(--soft)}
th,td{padding:.4rem .75rem .4rem 0;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0}
.resources th:first-child{width:42%}
.resources th:nth-child(2){width:14rem}
.passes th:first-child{width:17rem}
.passes th:nth-child(2){width:8.5rem}
.passes th:nth-child(3){width:7.5rem}
.name{font:.92em/1.6 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
details{margin-top:1rem}
summary{cursor:pointer;font-weight:600;font-size:.95rem}
@media (max-width:44rem){header,main{padding-left:.75rem;padding-right:.75rem}
section{padding:.9rem}
dl{grid-template-columns:1fr 1fr;gap:.6rem .9rem}
dl div:last-child{grid-column:1/-1}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,td{display:block;width:auto}
tr{border-top:1px solid var(--line);padding:.45rem 0}
td{border:0;padding:.05rem 0}
td:empty{display:none}
.passes td:nth-child(2),.passes td:nth-child(3){display:inline-block;margin-right:.6rem}
time,.badge{white-space:normal}}
`;
