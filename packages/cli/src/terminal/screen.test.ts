import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { openScreen, type ScreenOutput } from "./screen.ts";

function openTest() {
  const written: string[] = [];
  const output = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 24,
    write: (text: string) => written.push(text) > 0,
  });
  let resized = 0;
  const screen = openScreen(output as unknown as ScreenOutput, () => void (resized += 1));
  return { screen, output, take: () => written.splice(0).join(""), resizes: () => resized };
}

it("writes only lines that have changed", () => {
  const { screen, take } = openTest();
  screen.draw(["a", "b"]);
  take();
  screen.draw(["a", "c"]);
  expect(take()).toBe("\u001B[2;1H\u001B[2Kc");
  screen.draw(["a", "c"]);
  expect(take()).toBe("");
  screen.draw(["a"]);
  expect(take()).toBe("\u001B[2;1H\u001B[2K");
  screen.close();
});

it("draws everything again when the size has changed", () => {
  const { screen, output, take, resizes } = openTest();
  screen.draw(["a"]);
  output.emit("resize");
  expect(resizes()).toBe(1);
  take();
  screen.draw(["a"]);
  expect(take()).toContain("a");
  screen.close();
});

it("restores the terminal once, and draws nothing afterwards", () => {
  const { screen, take } = openTest();
  const listeners = process.listenerCount("exit");
  screen.close();
  expect(take()).toMatch(/\[\?7h.*\[\?25h.*\[\?1049l$/s);
  screen.draw(["late"]);
  screen.close();
  expect(take()).toBe("");
  expect(process.listenerCount("exit")).toBe(listeners - 1);
});
