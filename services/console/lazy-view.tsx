/** Views whose code is loaded when they are opened, or before that while the browser is idle. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FailureText } from './api.js';
import { Failure } from './components/states.js';

type View = () => JSX.Element;

const loads: (() => Promise<unknown>)[] = [];

const NOT_LOADED: FailureText = {
  title: 'This view could not be loaded',
  detail: 'The server cannot be reached, or has a newer version: then load the page again.',
  isTemporary: true,
  canRetry: true,
};

export function lazyView(read: () => Promise<View>): View {
  let loaded: View | undefined;
  const load = async () => {
    loaded ??= await read();
  };
  loads.push(load);
  return function LazyView() {
    const [, setEnded] = useState(0);
    const [error, setError] = useState<FailureText>();
    const open = () => {
      load().then(
        () => setEnded(Date.now()),
        () => setError({ ...NOT_LOADED }),
      );
    };
    useEffect(open, []);
    const View = loaded;
    if (View) return <View />;
    return error ? <Failure error={error} retry={open} /> : <p class="view note">Loading …</p>;
  };
}

/** Loads the code of all views once the browser is idle, so that they open at once, and also while the server cannot be reached. */
export function loadWhenIdle(): void {
  // Safari has no idle callbacks.
  const idle = 'requestIdleCallback' in globalThis ? requestIdleCallback : setTimeout;
  idle(() => {
    for (const load of loads) void load().catch(() => undefined);
  });
}
