import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type CreateMachineRequest, defineDriver, MachineError } from "@millwright/core";

/** What a class of this driver has. */
interface FaultySpec {
  /** Where the driver keeps its VMs, one file each, and what it did. */
  readonly folder: string;
  /** What the first creation of a machine does. */
  readonly fault?: "exit" | "hang" | "hold" | "leakBuffers" | "leakHeap" | "loop" | "none" | "print";
}

const leaked: object[] = [];

const block = (): never => {
  for (;;);
};

/** Prints secrets in some forms, and far more than anyone reads. */
function print({ secret, userData }: CreateMachineRequest<FaultySpec>): void {
  for (const value of [...Object.values(secret), userData]) {
    const text = value.reveal();
    console.log(`secret ${text} ${Buffer.from(text).toString("base64")}`);
    console.error(JSON.stringify({ text }));
  }
  for (let line = 0; line < 20_000; line++) console.log(`flood ${line} ${"x".repeat(200)}`);
  process.stdout.write("y".repeat(1_000_000));
}

const faults: Readonly<Record<NonNullable<FaultySpec["fault"]>, (request: CreateMachineRequest<FaultySpec>) => void>> =
  {
    none: () => undefined,
    exit: () => process.exit(0),
    hang: () => undefined,
    hold: () => undefined,
    loop: block,
    print,
    leakBuffers() {
      for (;;) leaked.push(Buffer.alloc(4_194_304, 1));
    },
    leakHeap() {
      for (let index = 0; ; index++) leaked.push({ index, text: [index] });
    },
  };

const vmFile = (folder: string, name: string): string => join(folder, `vm-${name}`);

/** A driver whose first creation of each machine fails its whole process. Its VMs are files. */
export default defineDriver<FaultySpec>({
  name: "faulty",
  // The schema of a test takes what the test writes.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  spec: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as FaultySpec }) } },
  async createMachine(request) {
    const { machine, machineClass } = request;
    const { folder, fault = "none" } = machineClass.spec;
    const file = vmFile(folder, machine.name);
    appendFileSync(join(folder, "log"), `create ${machine.name} ${request.idempotencyToken}\n`);
    writeFileSync(join(folder, "env"), JSON.stringify(process.env));
    const attempted = join(folder, `attempted-${machine.name}`);
    if (!existsSync(attempted)) {
      // A process of the driver's own, which must end with it.
      const child = fault === "hold" ? undefined : spawn("sleep", ["1000"], { stdio: "inherit" });
      writeFileSync(join(folder, "pids"), `${process.pid} ${child?.pid ?? ""}`);
      writeFileSync(attempted, "");
      if (fault === "exit") writeFileSync(file, "");
      faults[fault](request);
      if (fault === "hang") return new Promise(() => undefined);
      if (fault === "hold") while (!existsSync(join(folder, `released-${machine.name}`))) await setTimeout(20);
    }
    writeFileSync(file, "");
    return { providerId: `faulty:///${machine.name}`, nodeName: machine.name };
  },
  async getMachineStatus({ machine, machineClass }) {
    if (!existsSync(vmFile(machineClass.spec.folder, machine.name))) throw new MachineError("NotFound", "no VM");
    return { providerId: `faulty:///${machine.name}`, nodeName: machine.name };
  },
  async deleteMachine({ machine, machineClass }) {
    rmSync(vmFile(machineClass.spec.folder, machine.name), { force: true });
    return { vm: "ended" };
  },
  async listMachines({ machineClass }) {
    const files = readdirSync(machineClass.spec.folder).filter((name) => name.startsWith("vm-"));
    return {
      machines: files.map((file) => ({ providerId: `faulty:///${file.slice(3)}`, machineName: file.slice(3) })),
    };
  },
});
