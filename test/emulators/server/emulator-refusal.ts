import type { Refusal } from "./emulator.ts";

/** A refusal as the actions of an emulator throw it, before they have changed anything. Each cloud has a class of its own. */
export class EmulatorRefusal extends Error implements Refusal {
  readonly code: string;
  declare readonly status?: number;

  constructor(code: string, message: string, status?: number) {
    super(message);
    this.code = code;
    if (status !== undefined) this.status = status;
  }
}
