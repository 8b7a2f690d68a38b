/** The stylesheet of the reference; it loads nothing else. */
export const stylesheet = `:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f5; --ink: #1b2421; --soft: #5b6763; --line: #e2e6e3;
  --accent: #0b6e5c; --accent-soft: #e3f1ed; --warn: #9a4b00;
  --get: #0b6e5c; --put: #9a5b00; --post: #5b3fb0;
  --code-paper: #13211d; --code-ink: #dbe7e2; --code-line: #22352f;
  --code-key: #8fd3c1; --code-text: #e9cf9a; --code-value: #c3b1f2; --code-soft: #8aa39b;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101614; --panel: #171f1c; --ink: #e3e9e6; --soft: #9aa8a2; --line: #27322e;
    --accent: #5cc8b0; --accent-soft: #16302a; --warn: #f0ad62;
    --get: #5cc8b0; --put: #f0ad62; --post: #b7a2f5;
    --code-paper: #0b110f; --code-line: #27322e;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
code, pre { font-family: var(--mono); font-size: .875em; }
p code, td code, .limits code { background: var(--panel); border: 1px solid var(--line); border-radius: .3em; padding: .05em .3em; }
p { margin: .6rem 0; max-width: 44rem; overflow-wrap: break-word; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 3; background: var(--paper); padding: .5rem; }

.bar { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; justify-content: space-between; gap: 1rem;
  height: 3.5rem; padding: 0 1.5rem; background: var(--paper); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: .55rem; color: var(--ink); font-weight: 650; text-decoration: none; white-space: nowrap; }
.brand svg { color: var(--accent); flex: none; }
.thin { color: var(--soft); font-weight: 400; }
.raw { font-family: var(--mono); font-size: .8rem; }

.layout { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
aside { position: sticky; top: 3.5rem; height: calc(100vh - 3.5rem); overflow-y: auto; border-right: 1px solid var(--line); padding: 1rem 0 3rem; scrollbar-width: thin; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav h2 { margin: 1.3rem 1.5rem .3rem; font-size: .78rem; font-weight: 650; }
nav h2 a { color: var(--ink); text-decoration: none; }
nav li a { display: flex; align-items: baseline; gap: .6rem; padding: .22rem 1.5rem; color: var(--soft); font-size: .84rem; line-height: 1.35; text-decoration: none; }
nav a:hover { color: var(--accent); }
nav .method { font-size: .6rem; width: 2.1rem; flex: none; padding: 0; background: none; border: 0; text-align: right; }
nav .names a { font-family: var(--mono); font-size: .76rem; }
.menu { display: none; }

main { padding: 1.5rem 2.5rem 6rem; min-width: 0; }
h1 { font-size: 2.1rem; line-height: 1.2; letter-spacing: -.02em; margin: 1rem 0 .5rem; }
.intro h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
.intro figure { max-width: 44rem; }
.family { margin-top: 4.5rem; }
.family > h2 { font-size: 1.6rem; letter-spacing: -.015em; margin: 0; }
.lead { color: var(--soft); margin: .2rem 0 0; }

.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 0 2.5rem; padding: 2rem 0; border-bottom: 1px solid var(--line); }
.operation .code { position: sticky; top: 4.5rem; align-self: start; }
h3 { font-size: 1.15rem; line-height: 1.35; margin: 0 0 .5rem; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
.schema h3 { font-family: var(--mono); font-size: 1rem; }
h4 { font-size: .84rem; margin: 1.5rem 0 .2rem; color: var(--soft); font-weight: 600; }
.route { display: flex; align-items: baseline; gap: .6rem; margin: .3rem 0 .8rem; }
.route code { background: none; border: 0; padding: 0; font-size: .9rem; overflow-wrap: anywhere; }
.route b { color: var(--accent); font-weight: 600; }
.method { font: 700 .72rem/1.5 var(--mono); letter-spacing: .02em; padding: .1rem .45rem; border: 1px solid currentColor; border-radius: .35rem; }
.get { color: var(--get); } .put { color: var(--put); } .post { color: var(--post); }

.fields { list-style: none; margin: .3rem 0 0; padding: 0; }
.fields > li { padding: .6rem 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields p { margin: .1rem 0; font-size: .9rem; }
.head { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .6rem; }
.name { font-weight: 650; font-size: .86rem; overflow-wrap: anywhere; }
.type { color: var(--soft); font-size: .82rem; }
.or { opacity: .75; }
.required { color: var(--warn); font-size: .76rem; font-weight: 600; }
.fields .limits { color: var(--soft); font-size: .8rem; line-height: 1.7; }
.variant { font-size: .88rem; margin-top: .9rem; }
details summary { cursor: pointer; color: var(--accent); font-size: .82rem; width: fit-content; padding: .15rem 0; }
.inside { margin-left: .2rem; padding-left: 1rem; border-left: 2px solid var(--line); }
.aside { margin-top: 1.2rem; }
.aside > summary { font-weight: 600; font-size: .84rem; }

.replies { list-style: none; display: flex; flex-wrap: wrap; align-items: baseline; gap: .4rem; margin: .4rem 0 0; padding: 0; font-size: .88rem; }
.replies li:first-child { flex-basis: 100%; }
.status { font: 600 .76rem/1.5 var(--mono); border: 1px solid var(--line); border-radius: .35rem; padding: .1rem .45rem; text-decoration: none; }
.ok { color: var(--accent); background: var(--accent-soft); border-color: transparent; }
.refused { color: var(--soft); background: var(--panel); }
a.refused:hover { color: var(--ink); }
.facts { color: var(--soft); font-size: .8rem; margin-top: 1.4rem; }

figure { margin: 0 0 1rem; background: var(--code-paper); border: 1px solid var(--code-line); border-radius: .6rem; overflow: hidden; }
figcaption { color: var(--code-soft); font-size: .74rem; padding: .5rem .9rem; border-bottom: 1px solid var(--code-line); }
pre { margin: 0; padding: .8rem .9rem; max-height: 26rem; overflow: auto; color: var(--code-ink); font-size: .78rem; line-height: 1.55; tab-size: 2; scrollbar-width: thin; }
pre code { font-size: inherit; }
.k { color: var(--code-key); } .s { color: var(--code-text); } .v { color: var(--code-value); }

table { border-collapse: collapse; margin: 1rem 0; max-width: 44rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: baseline; padding: .4rem .9rem .4rem 0; border-top: 1px solid var(--line); }

@media (max-width: 75rem) {
  .operation { grid-template-columns: minmax(0, 1fr); }
  .operation .code { position: static; margin-top: 1.5rem; }
}
@media (max-width: 52rem) {
  .layout { display: block; }
  aside { display: none; }
  .menu { display: block; border-bottom: 1px solid var(--line); background: var(--panel); }
  .menu > summary { padding: .7rem 1.1rem; width: auto; font-size: .9rem; font-weight: 600; }
  .menu nav { max-height: 65vh; overflow-y: auto; padding-bottom: 1rem; }
  nav h2 { margin: 1rem 1.1rem .2rem; }
  nav li a { padding: .4rem 1.1rem; }
  .bar { padding: 0 1.1rem; }
  main { padding: .5rem 1.1rem 4rem; }
  h1 { font-size: 1.7rem; }
}
@media print { aside, .bar, .menu { display: none; } .layout, .operation { display: block; } pre { max-height: none; white-space: pre-wrap; } }
`;
