/** The entry point of the child process of a toolset. */
import { native } from './native.js';

native.runWorker();
