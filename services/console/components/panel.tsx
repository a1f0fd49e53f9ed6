import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { leaveTo } from '../router.js';

interface PanelProps {
  label: string;
  /** Address of the view without the panel. */
  closeHref: string;
  children: ComponentChildren;
}

/** A panel beside the list, or over it on a phone. Escape closes it, after a question if something would be lost. */
export function Panel({ label, closeHref, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const element = panel.current;
    element?.focus({ preventScroll: true });
    return () => {
      // Does not take the focus from another panel.
      if (element?.contains(document.activeElement) || document.activeElement === document.body)
        opener?.focus({ preventScroll: true });
    };
  }, [label]);
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]'))
        leaveTo(closeHref);
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [closeHref]);
  return (
    <aside class="panel" aria-label={label} ref={panel} tabIndex={-1}>
      <a class="button close" href={closeHref} aria-label="Close">
        ×
      </a>
      {children}
    </aside>
  );
}
