/** Actions of every view: its request as curl, and all rows as a file. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExportFormat } from '../../client/index.js';
import type { Scope } from '../../http/scopes.js';
import { type ExportSource, failureOf } from '../api.js';
import { curl } from '../curl.js';
import { BrokenFileError, download } from '../export.js';
import { kibibytes, plural } from '../format.js';
import { useSession } from '../session.js';
import { CodeBlock } from './code.js';
import { Unpermitted } from './states.js';

export function CurlButton({ url, body }: { url: string; body: object }) {
  const text = curl({
    method: 'POST',
    url: new URL(url, location.origin).href,
    secured: true,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (
    <Popover label="curl">
      <p class="note">The request of this view. Set REACHLINE_API_KEY to your key.</p>
      <CodeBlock label="Request as curl" text={text} language="curl" />
    </Popover>
  );
}

const FILES: readonly (readonly [ExportFormat, label: string])[] = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
];
/** Files that network_a takes as an upload, for audiences of its own. */
const NETWORK_LISTS: typeof FILES = [
  ['network-a-contacts', 'People'],
  ['network-a-companies', 'Companies'],
];

export function ExportButton({ source }: { source: ExportSource }) {
  const session = useSession();
  const [progress, setProgress] = useState<string>();
  /** Stops the running export. */
  const [running, setRunning] = useState<AbortController>();
  useEffect(() => () => running?.abort(), [running]);
  async function run(format: ExportFormat) {
    const stop = new AbortController();
    setRunning(stop);
    setProgress('Reading …');
    try {
      const saved = await download(session, source, format, stop.signal, ({ bytes, total }) =>
        setProgress(`${kibibytes(bytes)} of ${plural(total, 'row')} …`),
      );
      const { rows, bytes, total } = saved;
      const changed = rows === total ? '' : ` ${plural(total, 'row')} matched when the export began.`;
      setProgress(`${rows === null ? kibibytes(bytes) : plural(rows, 'row')} saved.${changed}`);
    } catch (error) {
      const { title, detail } = failureOf(error);
      if (stop.signal.aborted) setProgress('Stopped. Nothing was saved.');
      else setProgress(error instanceof BrokenFileError ? error.message : `${title}. ${detail}`);
    }
    setRunning(undefined);
  }
  const button = ([format, label]: (typeof FILES)[number]) => (
    <button key={format} type="button" disabled={running !== undefined} onClick={() => void run(format)}>
      {label}
    </button>
  );
  return (
    <Popover label="Export">
      <p class="note">Every row that matches, in this order.</p>
      <div class="row">{FILES.map(button)}</div>
      {source.path === '/api/contacts/search' && (
        <>
          <p class="note">Lists to upload to Network A, with hashed emails.</p>
          <div class="row">{NETWORK_LISTS.map(button)}</div>
        </>
      )}
      {running && (
        <button type="button" onClick={() => running.abort()}>
          Stop
        </button>
      )}
      <p class="note" role="status">
        {progress}
      </p>
    </Popover>
  );
}

interface PopoverProps {
  label: string;
  /** The scope that the key lacks for this action. */
  needs?: Scope | null;
  /** Rendered while the popover is open. */
  children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

export function Popover({ label, needs = null, children }: PopoverProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    const element = details.current;
    if (!element) return;
    element.open = false;
    element.querySelector('summary')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => {
      const element = details.current;
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return;
        // Each Escape closes only one thing.
        event.stopImmediatePropagation();
        close();
      } else if (element && !element.contains(event.target as Node)) {
        element.open = false;
      }
    };
    document.addEventListener('keydown', leave);
    document.addEventListener('pointerdown', leave);
    return () => {
      document.removeEventListener('keydown', leave);
      document.removeEventListener('pointerdown', leave);
    };
  }, [isOpen]);
  if (needs !== null) return <Unpermitted scope={needs}>{label}</Unpermitted>;
  return (
    <details class="popover" ref={details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="button">{label}</summary>
      {isOpen && (
        <div class="popover-body">{typeof children === 'function' ? children(close) : children}</div>
      )}
    </details>
  );
}
