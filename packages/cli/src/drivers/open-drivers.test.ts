import { describe, expect, it } from "vitest";
import { childEnvironment } from "./child-environment.ts";
import { placeDrivers, type ProviderFlags, readDigests } from "./open-drivers.ts";

const isOwnDriver = (name: string): boolean => name === "mock" || name === "aws";
const placesOf = (flags: Partial<ProviderFlags>) => Object.fromEntries(placeDrivers(flags, isOwnDriver));

describe("the place of a driver", () => {
  it("is this process for drivers of this repository, and a process of its own for others", () => {
    expect(
      placesOf({ provider: ["mock", "./mine.ts", "@example/driver", "unix:///run/d.sock", "grpcs://h:1"] }),
    ).toEqual({
      mock: "inProcess",
      "./mine.ts": "isolated",
      "@example/driver": "isolated",
      "unix:///run/d.sock": "address",
      "grpcs://h:1": "address",
    });
  });

  it("is the declared one", () => {
    const flags = { provider: ["mock", "./mine.ts"], providerInProcess: ["./mine.ts"], providerIsolated: ["mock"] };
    expect(placesOf(flags)).toEqual({ mock: "isolated", "./mine.ts": "inProcess" });
  });

  it.each<[string, Partial<ProviderFlags>, RegExp]>([
    ["two places", { providerInProcess: ["x"], providerIsolated: ["x"] }, /driver x: .* not both/],
    ["an address", { providerIsolated: ["unix:///run/d.sock"] }, /name it with --provider/],
  ])("cannot be %s", (_what, flags, message) => {
    expect(() => placesOf(flags)).toThrow(message);
  });
});

describe("the digest of a driver", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const places = placeDrivers({ provider: ["./mine.ts", "unix:///run/d.sock"] }, isOwnDriver);

  it("is that of the driver with its name", () => {
    expect(readDigests([`./mine.ts=${digest}`], places)).toEqual(new Map([["./mine.ts", digest]]));
  });

  it.each([
    ["mine", /expected NAME=sha256:…, as millwright driver digest NAME prints it/],
    ["./mine.ts=sha256:12", /expected NAME=sha256:/],
    [`./other.ts=${digest}`, /no such driver; expected \.\/mine\.ts or unix:/],
    [`unix:///run/d.sock=${digest}`, /a driver at an address is loaded elsewhere/],
  ])("is rejected where it would not be checked: %s", (text, message) => {
    expect(() => readDigests([text], places)).toThrow(message);
  });
});

describe("the environment of a driver in a process of its own", () => {
  it("has what finds programs and the network, and what the user names, and nothing else", () => {
    const env = { PATH: "/bin", HTTPS_PROXY: "http://p", KUBECONFIG: "/k", AWS_SECRET_ACCESS_KEY: "s", REGION: "r" };
    expect(childEnvironment(env, ["REGION", "MISSING"])).toEqual({
      PATH: "/bin",
      HTTPS_PROXY: "http://p",
      REGION: "r",
    });
  });
});
