import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";

const path = await findBuilt("health-readers");

/** Whether `npm run control-plane -- build health-readers` built the libraries here. */
export const hasHealthReaders = path !== undefined;

/** A question about an object: by kstatus, by expressions of Flux, or by a script of Argo CD. */
export interface HealthQuestion {
  readonly object: object;
  readonly cel?: Readonly<Record<string, string>>;
  readonly lua?: string;
}

/** Starts the program; `ask` resolves with the status of an object, one question after another. */
export function startHealthReaders(): { ask(question: HealthQuestion): Promise<string>; end(): Promise<void> } {
  const program = spawn(path ?? "", [], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(program.stdout)[Symbol.asyncIterator]();
  return {
    async ask(question) {
      program.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error("the program has ended");
      return String(JSON.parse(value));
    },
    async end() {
      program.stdin.end();
      await once(program, "exit");
    },
  };
}
