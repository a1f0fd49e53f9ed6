/** A question that a file leaves open, with a button for each answer. */
import type { Question } from '../file-load.js';

interface FileQuestionProps {
  question: Question;
  /** Label of the stream that the person chose for the file. */
  streamLabel: string;
  labelOf(stream: string): string;
  onAnswer(answer: Exclude<Question['answer'], 'columns'>, value: string): void;
}

const HEADINGS: Partial<Record<Question['code'], string>> = {
  ambiguous_date: 'Which comes first in dates?',
  ambiguous_number: 'What is the decimal mark?',
  several_presets: 'Which export is this?',
  other_stream: 'What should be loaded?',
};

const FORMS: Record<string, string> = {
  dmy: 'The day comes first',
  mdy: 'The month comes first',
  '.': 'A point: 1,234.50',
  ',': 'A comma: 1.234,50',
};

export function FileQuestion({ question, streamLabel, labelOf, onAnswer }: FileQuestionProps) {
  const { code, answer, column, choices } = question;
  const texts = [...new Set(choices.flatMap(({ text }) => (text === undefined ? [] : [text])))];
  const isOther = code === 'other_stream';
  return (
    <section class="facts" aria-label="Question">
      <h2>{HEADINGS[code]}</h2>
      {column !== undefined && (
        <p>
          The column <strong>{column}</strong> has {texts.map((text) => `“${text}”`).join(' and ')}, which can
          be read in two ways.
        </p>
      )}
      {isOther && <p>The columns of this file are not those of {streamLabel.toLowerCase()}.</p>}
      <div class="answers">
        {choices.map(({ value, description, reading }) => (
          <button
            key={value}
            type="button"
            onClick={() => onAnswer(answer as Parameters<typeof onAnswer>[0], value)}
          >
            <strong>{isOther ? labelOf(value) : (FORMS[value] ?? description ?? value)}</strong>
            {reading !== undefined && <span class="note">{reading}</span>}
            {isOther && description && <span class="note">{description}</span>}
          </button>
        ))}
        {(isOther || code === 'several_presets') && (
          <button type="button" onClick={() => onAnswer('map', 'draft')}>
            <strong>{isOther ? `${streamLabel} nevertheless` : 'None of these'}</strong>
            <span class="note">I will say what each column holds.</span>
          </button>
        )}
      </div>
    </section>
  );
}
