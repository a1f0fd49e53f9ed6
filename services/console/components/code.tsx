import type { ComponentChildren } from 'preact';
import { ScrollRegion } from './scroll-region.js';

/** Its text is that of its figure, in guides too. */
const CopyButton = () => (
  <button type="button" class="copy">
    Copy
  </button>
);

/** Makes the buttons of every figure copy its code. */
export function startCopyButtons(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = (target as Element).closest('button.copy');
    if (!button) return;
    // Absent where the page came over plain HTTP from another machine; the text can be selected then.
    await navigator.clipboard?.writeText(button.closest('figure')?.querySelector('code')?.textContent ?? '');
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}

export const Code = ({ label, text }: { label: string; text: string }) => (
  <ScrollRegion label={label}>
    <pre>
      <code>{text}</code>
    </pre>
  </ScrollRegion>
);

interface CodeBlockProps {
  label: string;
  text: string;
  language: string;
  /** In place of the label above it. */
  heading?: ComponentChildren;
}

export const CodeBlock = ({ label, text, language, heading = <span>{label}</span> }: CodeBlockProps) => (
  <figure class="code-block" data-language={language}>
    <figcaption>
      {heading}
      <CopyButton />
    </figcaption>
    <Code label={label} text={text} />
  </figure>
);
