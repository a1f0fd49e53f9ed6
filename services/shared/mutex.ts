/** Runs a task after all that came before it. */
export type OneAtATime = <T>(task: () => Promise<T>) => Promise<T>;

export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const running = last.then(task);
    last = running.catch(() => undefined);
    return running;
  };
}
