import { signal } from '@preact/signals';
import { CodeBlock } from '../components/code.js';
import { LANGUAGES, type Language, type Sample } from './samples.js';

/** Chosen once for every page. */
const chosen = signal<Language>('curl');

/** One request in every language. */
export function Samples({ sample }: { sample: Sample }) {
  const languages = (
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
  );
  return (
    <CodeBlock
      label={`Request in ${chosen.value}`}
      text={LANGUAGES[chosen.value](sample)}
      language={chosen.value}
      heading={languages}
    />
  );
}
