"""One verb a module: values in, a result out; nothing is printed here, and nobody is asked."""
