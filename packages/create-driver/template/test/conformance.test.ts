import { after, describe, it } from "node:test";
import { defineConformance } from "@millwright/conformance";
import fixture from "./fixture.ts";

defineConformance({ name: "my-cloud", fixture, level: "bronze", describe, it, afterAll: after });
