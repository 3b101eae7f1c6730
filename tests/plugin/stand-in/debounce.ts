/** Call after it was quiet for a while, or, without `reset`, a while after the first call. */
export function debounce<T extends unknown[]>(callback: (...given: T) => unknown, wait = 0, reset = false) {
  let timer: number | null = null;
  let last: T | null = null;
  const run = () => {
    timer = null;
    return last && callback(...last);
  };
  const debounced = (...given: T) => {
    last = given;
    if (timer !== null && !reset) return debounced;
    if (timer !== null) window.clearTimeout(timer);
    timer = window.setTimeout(run, wait);
    return debounced;
  };
  return Object.assign(debounced, {
    cancel() {
      if (timer !== null) window.clearTimeout(timer);
      timer = null;
      return debounced;
    },
    run,
  });
}
