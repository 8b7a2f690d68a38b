import { afterAll, expect, vi } from "vitest";

const processState = () => ({ cwd: process.cwd(), env: { ...process.env }, hasFakeTimers: vi.isFakeTimers() });

// What a test file changes of its process, every later file of that process would run with.
const before = processState();
afterAll(() => expect(processState()).toEqual(before));
