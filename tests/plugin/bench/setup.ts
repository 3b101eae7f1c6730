// Before the browser tests: one vault is indexed for all of them.
import type { TestProject } from "vitest/node";
import { discard, prepare, type Prepared } from "./daemon";
import { NOTES } from "./notes";

declare module "vitest" {
  export interface ProvidedContext {
    prepared: Prepared;
  }
}

export default function setup(project: TestProject): () => void {
  const prepared = prepare(NOTES);
  project.provide("prepared", prepared);
  return () => discard(prepared);
}
