/** Texts of the OpenAPI document: paragraphs, with links and with code between backticks. */
export const Inline = ({ text }: { text: string }) => (
  <>
    {text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part, index) => {
      const [, label, to] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? [];
      const key = `${index}`;
      if (to !== undefined)
        return (
          <a key={key} href={to}>
            {label}
          </a>
        );
      return part.startsWith('`') ? <code key={key}>{part.slice(1, -1)}</code> : part;
    })}
  </>
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
