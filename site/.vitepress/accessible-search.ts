/**
 * Roles of the search dialog of the theme. In VitePress 2.0.0-alpha.20 it is a button that holds a form, and its options hold links, so
 * that screen readers announce neither.
 */
import type { Plugin } from 'vite';

const CHANGES: readonly (readonly [from: string, to: string])[] = [
  [
    `role="button"
      :aria-owns="results?.length ? 'localsearch-list' : undefined"
      aria-expanded="true"
      aria-haspopup="listbox"
`,
    `role="dialog"
      aria-modal="true"
`,
  ],
  [
    `            :id="'localsearch-item-' + index"
            :aria-selected="selectedIndex === index ? 'true' : 'false'"
            role="option"
          >
            <a
`,
    `            role="presentation"
          >
            <a
              :id="'localsearch-item-' + index"
              :aria-selected="selectedIndex === index ? 'true' : 'false'"
              role="option"
`,
  ],
  [`              :aria-label="[...p.titles, p.title].join(' > ')"\n`, ''],
  ['<kbd :aria-label', '<kbd role="img" :aria-label'],
  ['<span class="title-icon">', '<span class="title-icon" aria-hidden="true">'],
];

export const accessibleSearch: Plugin = {
  name: 'accessible-search',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined;
    return CHANGES.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`VPLocalSearchBox.vue no longer has ${from}`);
      return text.replaceAll(from, to);
    }, code);
  },
};
