/** The documentation at /docs: HTML of the pages that docs/README.md lists. */
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress';
import { precompress } from '../../services/console/precompress.js';
import { accessibleSearch } from './accessible-search.js';
import { codeTheme, stylesToClasses } from './code-theme.js';
import { DOCS, linkedPage, PAGES, plainText } from './pages.js';

const HOME = 'index.md';
const onSite = new Set([HOME, ...PAGES.map(({ file }) => file)]);
const offSite = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !onSite.has(file),
);

const sidebar: DefaultTheme.SidebarItem[] = [...new Set(PAGES.map(({ group }) => group))].map((group) => ({
  text: group,
  items: PAGES.filter((page) => page.group === group).map(({ title, name }) => ({
    text: title,
    link: `/${name}`,
  })),
}));
const reference = { text: 'API reference', link: '/api', target: '_self' };

/** The id of a heading, as GitHub makes it. */
const slugify = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** Links between files become links between pages, and alignment becomes a class, since the policy forbids `style` attributes. */
function adaptToSite(md: MarkdownRenderer): void {
  md.core.ruler.push('adapt-to-site', ({ tokens, env }) => {
    for (const token of tokens) {
      const style = token.attrGet('style');
      if (style !== null) {
        token.attrSet('class', style.replace('text-align:', 'align-'));
        token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
      }
      for (const link of token.children ?? []) {
        // Vue would take braces in it for an expression.
        if (link.type === 'code_inline') link.attrSet('v-pre', '');
        const href = link.type === 'link_open' ? link.attrGet('href') : null;
        // Not a page of the site: the browser leaves it.
        if (href?.startsWith('/api')) link.attrSet('target', '_self');
        const [, to, anchor = ''] = /^(?!\w+:)([^#]+\.md)(#.*)?$/.exec(href ?? '') ?? [];
        if (to === undefined) continue;
        const file = relative(DOCS, env.realPath ?? env.path);
        link.attrSet('href', `/${linkedPage(file, to)}.md${anchor}`);
      }
    }
  });
}

export default defineConfig({
  srcDir: DOCS,
  srcExclude: offSite,
  outDir: '../dist/docs',
  base: '/docs/',
  cleanUrls: true,
  rewrites: Object.fromEntries(PAGES.map(({ file, name }) => [file, `${name}.md`])),
  ignoreDeadLinks: [/^\/api\b/],
  title: 'Reachline',
  description:
    'Documentation of Reachline: contacts, audiences, website visits and advertising behind one API.',
  // Its transition would need an inline style.
  appearance: { disableTransition: false },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/icon.svg' }]],
  markdown: {
    theme: codeTheme,
    codeTransformers: [stylesToClasses],
    anchor: { slugify },
    config: adaptToSite,
  },
  themeConfig: {
    logo: { src: '/icon.svg', alt: '' },
    nav: [
      { text: 'Guides', link: '/quickstart', activeMatch: '^/(?!api|$)' },
      reference,
      { text: 'Console', link: '../console', target: '_self' },
    ],
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      // Every word must occur.
      options: { miniSearch: { searchOptions: { combineWith: 'AND' } } },
    },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
  vite: {
    plugins: [accessibleSearch],
    logLevel: 'warn',
    build: {
      // A data: address would weigh on every page.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2000,
    },
  },
  /** What the theme sets on elements at the start; it does so again by script, which the policy allows. */
  transformHtml: (html) => html.replaceAll(/ style="(?:--vp-vh:0px|position:relative);"/g, ''),
  buildEnd({ outDir }) {
    for (const file of ['services/console/icon.svg', 'docs/images/contacts.png'])
      copyFileSync(join(DOCS, '..', file), join(outDir, basename(file)));
    for (const page of PAGES) writeFileSync(join(outDir, `${page.name}.md`), plainText(page));
    const pages = PAGES.map(({ name, group, title }) => ({ name, group, title }));
    writeFileSync(join(outDir, 'pages.json'), JSON.stringify(pages));
    for (const file of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
      if (/\.(?:html|js|css|svg)$/.test(file)) precompress(join(outDir, file));
    }
  },
});
