interface SegmentsProps {
  label: string;
  items: readonly (readonly [text: string, href: string, isCurrent: boolean])[];
}

/** A row of links, of which one is current. */
export function Segments({ label, items }: SegmentsProps) {
  return (
    <nav class="segmented" aria-label={label}>
      {items.map(([text, href, isCurrent]) => (
        <a key={text} href={href} aria-current={isCurrent ? 'true' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
