import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { leaveTo } from '../router.js';

interface PanelProps {
  label: string;
  /** Address without the panel. */
  closeHref: string;
  children: ComponentChildren;
}

/** Beside the list where there is room, over it on a phone. Escape closes it; where something would be lost, after a question. */
export function Panel({ label, closeHref, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const element = panel.current;
    element?.focus({ preventScroll: true });
    return () => {
      // Not when another panel has the focus already.
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
