import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { hasParam, param, setParams } from '../router.js';

/** A row of filters; on a phone they fold into one button that says how many are set. */
export function Filters({ names, children }: { names: readonly string[]; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const set = names.filter((name) => param(name) !== '').length;
  return (
    <>
      <button type="button" class="fold-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{set > 0 && ` (${set})`}
      </button>
      <div class={isOpen ? 'filters open' : 'filters'}>
        {children}
        <button
          type="button"
          disabled={!hasParam(...names)}
          onClick={() => setParams(Object.fromEntries([...names, 'page'].map((name) => [name, null])))}
        >
          Clear
        </button>
      </div>
    </>
  );
}
