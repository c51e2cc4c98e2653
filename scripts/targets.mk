clean:
	rm -rf build scanbench
