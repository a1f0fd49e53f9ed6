import type { ComponentChildren } from 'preact';

/** An entry in a list of facts. */
export function Fact({ label, children }: { label: ComponentChildren; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
