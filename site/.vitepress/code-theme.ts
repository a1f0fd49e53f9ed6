/** Colours of code as classes, since the policy of the site forbids `style` attributes. theme/style.css gives each class its colour. */
import type { MarkdownOptions } from 'vitepress';

type CodeTheme = Exclude<MarkdownOptions['theme'], string | undefined>;
type Transformer = NonNullable<MarkdownOptions['codeTransformers']>[number];

const SCOPES = {
  comment: ['comment', 'punctuation.definition.comment'],
  string: ['string', 'constant.other.symbol', 'markup.inline.raw'],
  constant: ['constant', 'support.constant', 'variable.language'],
  keyword: ['keyword', 'storage', 'entity.name.tag'],
  function: ['entity.name.function', 'support.function'],
  name: ['support.type.property-name', 'entity.other.attribute-name', 'meta.object-literal.key'],
};

const COLOUR = /^color:var\(--code-(\w+)\)$/;

export const codeTheme = {
  name: 'reachline',
  type: 'light',
  fg: 'inherit',
  bg: 'transparent',
  settings: Object.entries(SCOPES).map(([name, scope]) => ({
    scope,
    settings: { foreground: `var(--code-${name})` },
  })),
} as unknown as CodeTheme;

export const stylesToClasses: Transformer = {
  name: 'styles-to-classes',
  pre({ properties }) {
    delete properties.style;
  },
  span({ properties }) {
    const [, name] = COLOUR.exec(String(properties.style)) ?? [];
    delete properties.style;
    if (name !== undefined) properties.class = `code-${name}`;
  },
};
