import { signal } from '@preact/signals';
import { ScrollRegion } from '../components/scroll-region.js';
import { LANGUAGES, type Language, type Sample } from './samples.js';

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

export const JsonBlock = ({ label, text }: { label: string; text: string }) => (
  <figure class="code-block" data-language="json">
    <figcaption>
      <span>{label}</span>
      <CopyButton />
    </figcaption>
    <Code label={label} text={text} />
  </figure>
);

/** Chosen once for every page. */
const chosen = signal<Language>('curl');

/** One request in every language. */
export function Samples({ sample }: { sample: Sample }) {
  const text = LANGUAGES[chosen.value](sample);
  return (
    <figure class="code-block" data-language={chosen.value}>
      <figcaption>
        <fieldset class="tabs">
          <legend class="hidden">Language</legend>
          {(Object.keys(LANGUAGES) as Language[]).map((language) => (
            <button
              key={language}
              type="button"
              aria-pressed={language === chosen.value}
              onClick={() => {
                chosen.value = language;
              }}
            >
              {language}
            </button>
          ))}
        </fieldset>
        <CopyButton />
      </figcaption>
      <Code label={`Request in ${chosen.value}`} text={text} />
    </figure>
  );
}
