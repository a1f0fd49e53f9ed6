import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { address } from '../router.js';

interface ViewMenuProps {
  label: string;
  /** Whether the view that is shown is in the menu. */
  isCurrent: boolean;
  /** Links. */
  children: ComponentChildren;
}

/** Links behind a button. Enter opens it, arrows and Tab move through it, and Escape, a click elsewhere or a followed link close it. */
export function ViewMenu({ label, isCurrent, children }: ViewMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (menu.current) menu.current.open = false;
  }, [address.value]);
  useEffect(() => {
    const leave = ({ target }: Event) => {
      if (menu.current && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, []);
  function move(event: KeyboardEvent) {
    const details = menu.current;
    if (!details) return;
    const places = [...details.querySelectorAll<HTMLElement>('summary, a')];
    if (event.key === 'Escape' && details.open) {
      details.open = false;
      places[0]?.focus();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      details.open = true;
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const next = places.indexOf(document.activeElement as HTMLElement) + step;
      places.at(next % places.length)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <details class="popover view-menu" ref={menu} onKeyDown={move}>
      <summary aria-current={isCurrent ? 'true' : undefined}>{label}</summary>
      <div class="popover-body">{children}</div>
    </details>
  );
}
