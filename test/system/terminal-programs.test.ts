import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { bin } from "../harness/millwright.ts";
import { hasTmux, openTerminal, type Terminal, type TerminalSize } from "../harness/terminal.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sizes = {
  usual: { columns: 80, rows: 24 },
  large: { columns: 120, rows: 40 },
  small: { columns: 40, rows: 12 },
} as const satisfies Readonly<Record<string, TerminalSize>>;

/** A deployment whose machines cannot be created. */
const broken = {
  apiVersion: "machine.sapcloud.io/v1alpha1",
  kind: "MachineDeployment",
  metadata: { name: "zz-broken" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { name: "zz-broken" } },
    template: { metadata: { labels: { name: "zz-broken" } }, spec: { class: { kind: "MachineClass", name: "gone" } } },
  },
};

/** How often a text is on the screen: what is drawn again at another place is there twice. */
const count = (lines: readonly string[], text: string): number => lines.join("\n").split(text).length - 1;

/** One sequence in two terminals of one cluster: each test continues after the previous one. */
describe.skipIf(!hasTmux)("programs on a terminal (where test/system/install-tmux was possible)", () => {
  let folder: string;
  let first: Terminal;
  let second: Terminal;
  let kubectl: ForeignTool;
  let settings = "";

  const settingsOf = async (terminal: Terminal): Promise<string> => {
    await terminal.type("clear; stty -g");
    await terminal.press("Enter");
    const [, text = ""] = await terminal.waitFor(/^([0-9a-f:]{30,})$/m);
    return text;
  };
  const millwright = async (args: string): Promise<void> => {
    await second.type(`"${process.execPath}" --conditions=@millwright/source "${bin}" ${args}`);
    await second.press("Enter");
  };
  /** After a program: its status, no whole screen, a cursor, and a terminal that echoes and edits lines as before. */
  const stateAfter = async (terminal: Terminal, status: number): Promise<object> => {
    await terminal.waitFor(new RegExp(`status ${status} >$`, "m"));
    const [alternate, cursor] = [await terminal.variable("alternate_on"), await terminal.variable("cursor_flag")];
    return { alternate, cursor, settings: await settingsOf(terminal) };
  };
  const restored = (): object => ({ alternate: "0", cursor: "1", settings });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-terminals-"));
    const kubeconfig = join(folder, "kubeconfig");
    [first, second] = await Promise.all([
      openTerminal(sizes.usual),
      openTerminal(sizes.usual, { KUBECONFIG: kubeconfig }),
    ]);
    settings = await settingsOf(first);
    await first.type(`cd "${root}" && npm start -- --kubeconfig "${kubeconfig}"`);
    await first.press("Enter");
    await first.waitFor(/3 desired, 3 ready/);
    kubectl = await createKubectl(kubeconfig);
  });
  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
    await rm(folder, { recursive: true });
  });

  it("npm start has a table at 80x24, with where everything is, and commands on a key", async () => {
    const lines = await first.lines();
    expect(lines.join("\n")).toMatch(/^Dashboard: http:\/\/127\.0\.0\.1:\d+\/\nkubeconfig: \S+\/kubeconfig$/m);
    expect(lines.filter((line) => / Running +mock:\/\/\/local\/i-\w+ +\d+[smh]$/.test(line))).toHaveLength(3);
    expect(lines.findLast((line) => line !== "")).toBe("? commands  Ctrl-C stops everything");
    await first.press("?");
    await first.waitFor(/kubectl scale machinedeployment example --replicas=5\n/);
    const help = await first.lines();
    expect(help.join("\n")).toContain("millwright why machine/NAME");
    expect(help.join("\n")).not.toContain("…");
    await first.press("Escape");
    await first.waitFor(/MACHINE +PHASE +VM +AGE/);
  });

  it("npm start shows a failing machine first, with its cause", async () => {
    await kubectl(["create", "-f", "-"], JSON.stringify(broken));
    await first.waitFor(/! zz-broken-\S+: .*MachineClass "gone"/);
    const lines = await first.lines();
    expect(lines[lines.findIndex((line) => line.includes("MACHINE ")) + 1]).toMatch(/^ {2}zz-broken-\S+ +CrashLoop/);
  });

  it.each([sizes.small, sizes.large, sizes.usual])(
    "npm start fits after a change to $columns x $rows",
    async (size) => {
      await first.resize(size);
      await eventually(async () => {
        const lines = await first.lines();
        expect(count(lines, "MACHINE ")).toBe(1);
        expect(count(lines, "MachineDeployment example:") + count(lines, "  example: ")).toBe(1);
        expect(count(lines, "Ctrl-C stops everything")).toBe(1);
        expect(lines.filter((line) => /\S.* Running .*\d[smh]$/.test(line))).toHaveLength(3);
      });
    },
  );

  it("top filters machines, and explains one", async () => {
    await millwright("top");
    await second.waitFor(/4 machines: 1 CrashLoopBackOff, 3 Running/);
    expect((await second.lines()).find((line) => line.startsWith("> "))).toMatch(/zz-broken.* x─+ CrashLoopBackOff/);
    await second.press("Enter");
    await second.waitFor(/MachineClass gone: does not exist {2}\[stuck\]/);
    await second.press("Escape");
    await second.waitFor(/4 machines/);
    await second.type("/example");
    await second.waitFor(/4 machines, 3 with "example"/);
    await second.press("Enter");
    await eventually(async () => expect(count(await second.lines(), "zz-broken")).toBe(0));
    await second.press("j", "Enter");
    await second.waitFor(/^Machine default\/example-\S+ is as desired\.$/m);
    await second.press("Escape", "Escape");
    await second.waitFor(/^4 machines: /m);
  });

  it.each([sizes.small, sizes.large, sizes.usual])("top fits after a change to $columns x $rows", async (size) => {
    await second.resize(size);
    await eventually(async () => {
      const lines = await second.lines();
      expect(count(lines, "4 machines")).toBe(1);
      expect(lines.filter((line) => /━━●──── Running/.test(line))).toHaveLength(3);
      expect(lines.findLast((line) => line !== "")).toMatch(/^\? help .* \d\/4$/);
    });
  });

  it("top ends with Ctrl-C, and what was on the terminal is back", async () => {
    await second.press("C-c");
    await second.waitFor(/bin\.ts" top\n/);
    expect(await stateAfter(second, 0)).toEqual(restored());
  });

  it("describe --watch follows a change, and fits into the terminal", async () => {
    await millwright("describe deployment example --watch");
    await second.waitFor(/3 desired, 3 up to date, 3 ready/);
    await kubectl(["scale", "machinedeployment", "example", "--replicas=4"]);
    await second.waitFor(/4 desired, 4 up to date, 4 ready/);
    for (const size of [sizes.small, sizes.large]) {
      await second.resize(size);
      await eventually(async () => {
        const lines = await second.lines();
        const isCut = size === sizes.small;
        expect([count(lines, "Name: "), count(lines, "more lines")]).toEqual([1, isCut ? 1 : 0]);
        expect(count(lines, "└─ 4 Nodes ")).toBe(isCut ? 0 : 1);
      });
    }
    await second.press("C-c");
    expect(await stateAfter(second, 0)).toEqual(restored());
  });

  it("npm start ends with Ctrl-C, and leaves the last table", async () => {
    await first.press("C-c");
    await first.waitFor(/ AGE\n[^]* Running [^]*Stopped; all data is removed\.\n/);
    expect(await stateAfter(first, 0)).toEqual(restored());
  });
});
