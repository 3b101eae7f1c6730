// Waits on conditions, never for a time.

const PATIENCE = 20_000;

/** Look again and again until something is so; fails with its name when it never is. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patience = PATIENCE): Promise<void> {
  const end = Date.now() + patience;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
