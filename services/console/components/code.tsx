import type { ComponentChildren } from 'preact';
import { ScrollRegion } from './scroll-region.js';

/** Copies the code of its figure. */
const CopyButton = () => (
  <button type="button" class="copy">
    Copy
  </button>
);

/** Makes the copy button of every figure work. */
export function startCopyButtons(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = (target as Element).closest('button.copy');
    if (!button) return;
    // The clipboard is absent if the page came over plain HTTP from another machine. The text can be selected instead.
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
  /** Shown instead of the label above the code. */
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
