// Waiting that can be given up: by the signal of whoever asked, or after a time. Pure but for the system's timer.

/** Where time comes from; a test turns its own. */
export interface Clock {
  /** Run something once after so many milliseconds; the result takes that back. */
  after(milliseconds: number, run: () => void): () => void;
  now(): number;
}

export const SYSTEM_CLOCK: Clock = {
  after(milliseconds, run) {
    const timer = window.setTimeout(run, milliseconds);
    return () => {
      window.clearTimeout(timer);
    };
  },
  now: () => Date.now(),
};

/** Wait for work; reject with the signal's reason as soon as it aborts, or when the time is over, if one is given. */
export function within<T>(work: Promise<T>, clock: Clock, signal?: AbortSignal, milliseconds?: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal?.reason as Error);
    };
    const late = () => {
      reject(new Error("This took too long."));
    };
    const forget = milliseconds === undefined ? null : clock.after(milliseconds, late);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    void work.then(resolve, reject).finally(() => {
      forget?.();
      signal?.removeEventListener("abort", abort);
    });
  });
}

/** Do nothing for a while; rejects with the signal's reason when it aborts. */
export function pause(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const over = new Promise<void>((resolve) => {
    clock.after(milliseconds, resolve);
  });
  return within(over, clock, signal);
}
