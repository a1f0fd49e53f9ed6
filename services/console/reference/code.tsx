import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { ScrollRegion } from '../components/scroll-region.js';
import { LANGUAGES, type Language, type Sample } from './samples.js';

function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Absent where the page came over plain HTTP from another machine; the text can be selected then.
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {copied ? 'Copied' : label}
    </button>
  );
}

export const Code = ({ label, text }: { label: string; text: string }) => (
  <ScrollRegion label={label}>
    <pre>
      <code>{text}</code>
    </pre>
  </ScrollRegion>
);

const NAMES: Record<string, string> = { sh: 'Shell', js: 'JavaScript', python: 'Python', json: 'JSON' };

export function CodeBlock({
  text,
  language = '',
  label,
}: {
  text: string;
  language?: string;
  label?: string;
}) {
  const name = label ?? NAMES[language] ?? 'Text';
  return (
    <figure class="code-block" data-language={language}>
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} />
      </figcaption>
      <Code label={name} text={text} />
    </figure>
  );
}

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
        <CopyButton text={text} />
      </figcaption>
      <Code label={`Request in ${chosen.value}`} text={text} />
    </figure>
  );
}
