import type { ComponentChildren } from 'preact';

/** A wide table that scrolls sideways, also with the arrow keys. */
export function ScrollRegion({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (axe scrollable-region-focusable).
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
