/** A guide as HTML; run by the build. */
import { Marked, Renderer, type Tokens } from 'marked';
import { slug } from './slug.js';

const LANGUAGES: Record<string, string> = { sh: 'Shell', js: 'JavaScript', python: 'Python', json: 'JSON' };
const plain = Renderer.prototype;
/** As `ScrollRegion` of the console. */
const scrolling = (label: string, html: string) =>
  `<section class="scroll" tabindex="0" aria-label="${label.replaceAll(/[<>&"`*]/g, '')}">${html}</section>`;

const marked = new Marked({
  renderer: {
    heading({ tokens, text, depth }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
    },
    code(token: Tokens.Code) {
      const name = LANGUAGES[token.lang ?? ''] ?? 'Text';
      const head = `<figcaption><span>${name}</span><button type="button" class="copy">Copy</button></figcaption>`;
      const code = scrolling(name, plain.code.call(this, token));
      return `<figure class="code-block" data-language="${token.lang ?? ''}">${head}${code}</figure>`;
    },
    table(token: Tokens.Table) {
      const html = plain.table.call(this, token).replace('<table>', '<table class="table">');
      return scrolling(token.header.map(({ text }) => text).join(', '), html);
    },
  },
});

/** Links between guides name their plain text; here they lead to the page. */
export const renderGuide = (text: string) =>
  marked.parse(text.replaceAll(/\]\((\/docs\/[\w-]+)\.md/g, ']($1'), { async: false });
