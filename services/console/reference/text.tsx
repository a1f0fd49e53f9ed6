/** Texts of the OpenAPI document: paragraphs, with code between backticks. */
export const Inline = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={`${index}`}>{part}</code>))}</>
);

export const Description = ({ text = '' }: { text: string | undefined }) => (
  <>
    {text.split('\n\n').map((paragraph) => (
      <p key={paragraph}>
        <Inline text={paragraph} />
      </p>
    ))}
  </>
);
